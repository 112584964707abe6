import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '#server/errors.ts'
import { recordDelivery } from '#server/log-drains/deliveries.ts'
import { openDestination } from '#server/log-drains/operations.ts'
import {
  AUDIT_LOG,
  drains,
  placeOf,
  recordDropped,
  recordSent,
  servicesOf,
  type DrainRow,
} from '#server/log-drains/store.ts'
import { logger } from '#server/log.ts'
import { systemLine } from '#server/logs/lines.ts'
import { schedule } from '#server/options/schedule.ts'
import { plainLine } from '#server/text/plain-line.ts'
import { backoffMs, jittered } from '#server/work/backoff.ts'
import { auditSource } from './audit-source.ts'
import { openDrainDestination, Refusal, TargetUnavailable, type DrainDestination } from './destinations.ts'
import { SERVER } from './formats.ts'
import { serviceSource } from './service-source.ts'
import type { Source } from './source.ts'

const log = logger('log drains')

/** Lines of a batch: what destinations accept without complaint. */
const BATCH_LINES = 1_000
/** How long lines wait for more lines before they are sent. */
const GATHER_MS = 500
/** The longest pause that a destination may ask for; after it, the destination is tried anyway. */
const MAX_REQUESTED_PAUSE_MS = 600_000
/** Length of a destination's error as it is shown; the error for a wrong certificate may name many hosts. */
const MAX_ERROR_CHARACTERS = 500
/** After this many refusals in a row single lines are not the cause, so the refused ones are no longer searched for. */
const MAX_SEARCHED_REFUSALS = 3

/** How one source's lines are read. */
interface Reading {
  source: Source
  /** Lines per batch: fewer after a destination refused one, and more again as it accepts them. */
  maxLines: number
  /** Refusals by which lines were dropped, since it last accepted some. */
  refused: number
  /** Records what the destination accepted, if that failed before, as on a full disk, so that it is not sent again. */
  record: (() => void) | null
}

/**
 * Forwards the lines of services, and the audit log when asked, to one destination. What is stored is the queue: the position
 * in it advances when the destination has accepted the lines, so a kill loses nothing. Lines that retention removes before
 * they are sent are counted.
 */
export class Drain {
  readonly #id: string
  readonly #destination: DrainDestination
  readonly #stop = new AbortController()
  readonly #sources = new Map<string, Promise<void>>()
  #failures = 0

  constructor(row: DrainRow) {
    this.#id = row.id
    const { url, token } = openDestination(row)
    this.#destination = openDrainDestination(row.kind, url, token)
  }

  /** Starts reading services that are new to it: with `startsNow` from the end of their log, otherwise from the start. */
  follow(row: DrainRow, startsNow: boolean): void {
    for (const id of servicesOf(row)) this.#follow(id, () => serviceSource(id), startsNow)
    if (row.audit === 1) this.#follow(AUDIT_LOG, auditSource, startsNow)
  }

  #follow(id: string, open: () => Source, startsNow: boolean): void {
    if (this.#sources.has(id)) return
    this.#sources.set(
      id,
      this.#run(open(), startsNow).finally(() => this.#sources.delete(id)),
    )
  }

  /** Stops sending; lines in flight are sent again by the next start. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await Promise.all(this.#sources.values())
    this.#destination.close()
  }

  async #run(source: Source, startsNow: boolean): Promise<void> {
    const stop = AbortSignal.any([this.#stop.signal, source.removed])
    const reading: Reading = { source, maxLines: BATCH_LINES, refused: 0, record: null }
    while (!stop.aborted) {
      try {
        await source.begin(this.#id, startsNow)
        // Wait from before the read, so that lines that arrive during it are noticed.
        const more = source.more(stop)
        if (await this.#sendNext(reading, stop)) continue
        await more
        await delay(GATHER_MS, undefined, { signal: stop })
      } catch (error) {
        if (!stop.aborted) await this.#pause(error, stop)
      }
    }
    try {
      this.#record(reading)
    } catch (error) {
      log.warn('lines may be sent again', { drain: this.#id, error: messageOf(error) })
    }
  }

  /** Sends the next batch. Returns whether there was one. Throws if it must be tried again. */
  async #sendNext(reading: Reading, stop: AbortSignal): Promise<boolean> {
    this.#record(reading)
    const { source } = reading
    const place = placeOf(this.#id, source.id)
    const batch = place === null ? null : await source.next(place, reading.maxLines)
    if (place === null || !batch) return false
    const { origin, lines, first, next } = batch
    if (first > place) this.#recordRemoved(source.id, first, first - place)
    const count = next - first
    try {
      await this.#destination.send(origin, lines, stop)
      reading.record = () => recordSent(this.#id, source.id, next, lines.length)
      this.#record(reading)
      reading.refused = 0
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      // One refused line must not cause the others to be dropped.
      const isSearched = error.isTooLarge || reading.refused < MAX_SEARCHED_REFUSALS
      if (isSearched && count > 1) {
        reading.maxLines = Math.ceil(count / 2)
        return true
      }
      this.#dropRefused(source.id, next, count, error.message)
      reading.refused++
    }
    reading.maxLines = Math.min(BATCH_LINES, reading.maxLines * 2)
    this.#failures = 0
    return true
  }

  #record(reading: Reading): void {
    reading.record?.()
    reading.record = null
  }

  async #pause(fault: unknown, stop: AbortSignal): Promise<void> {
    const error = plainLine(messageOf(fault), MAX_ERROR_CHARACTERS)
    try {
      recordDelivery(this.#id, { status: 'failed', lines: 0, error })
      if (this.#showError(error))
        log.warn('sending to a log drain failed; trying again', { drain: this.#id, error })
    } catch (unrecorded) {
      log.error('sending to a log drain failed, and recording that failed too', {
        drain: this.#id,
        error: messageOf(unrecorded),
      })
    }
    const asked = fault instanceof TargetUnavailable ? Math.min(MAX_REQUESTED_PAUSE_MS, fault.waitMs) : 0
    const { drainPauseMs, maxDrainPauseMs } = schedule
    const ownMs = backoffMs(++this.#failures, { firstMs: drainPauseMs, longestMs: maxDrainPauseMs })
    // The stop ends it early; the loop checks that itself.
    await delay(jittered(Math.max(asked, ownMs)), undefined, { signal: stop }).catch(() => {})
  }

  /** Shows an error at the drain. Returns whether it differs from the last one. */
  #showError(error: string): boolean {
    const row = drains.get(this.#id)
    if (!row || row.last_error === error) return false
    drains.update(this.#id, { last_error: error })
    return true
  }

  #dropRefused(source: string, next: number, dropped: number, error: string): void {
    recordDropped(this.#id, source, next, dropped, error)
    if (this.#showError(error))
      log.warn('a log drain refused lines; they were dropped', { drain: this.#id, source, error })
  }

  #recordRemoved(source: string, next: number, dropped: number): void {
    recordDropped(this.#id, source, next, dropped, 'they were removed before they were sent')
    log.warn('lines were removed before a log drain had sent them', {
      drain: this.#id,
      source,
      dropped,
    })
  }
}

/** Sends one line to a destination and returns the result. */
export async function testDrain(
  row: DrainRow,
  signal: AbortSignal,
): Promise<{ ok: boolean; error: string | null }> {
  const { url, token } = openDestination(row)
  const destination = openDrainDestination(row.kind, url, token)
  const line = systemLine(`a test of the log drain ${row.name}`)
  try {
    await destination.send(SERVER, [line], signal)
    return { ok: true, error: null }
  } catch (error) {
    return { ok: false, error: plainLine(messageOf(error), MAX_ERROR_CHARACTERS) }
  } finally {
    destination.close()
  }
}
