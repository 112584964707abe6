import { setTimeout as delay } from 'node:timers/promises'
import { environmentName } from '#server/destinations/frame.ts'
import { messageOf } from '#server/errors.ts'
import { recordDelivery } from '#server/log-drains/deliveries.ts'
import { openDestination } from '#server/log-drains/operations.ts'
import {
  beginAt,
  drains,
  placeOf,
  recordDropped,
  recordSent,
  servicesOf,
  type DrainRow,
} from '#server/log-drains/store.ts'
import type { LogLine } from '#server/logs/lines.ts'
import { logger } from '#server/log.ts'
import { linesIn } from '#server/logs/filter.ts'
import { ForwardReader } from '#server/logs/forward.ts'
import { serviceLog } from '#server/logs/service-logs.ts'
import { schedule } from '#server/options/schedule.ts'
import { getService } from '#server/services/store.ts'
import { plainLine } from '#server/text/plain-line.ts'
import { backoffMs, jittered } from '#server/work/backoff.ts'
import type { Origin } from './formats.ts'
import { openDrainDestination, Refusal, TargetUnavailable, type DrainDestination } from './destinations.ts'

const log = logger('log drains')

/** The size of a batch: what destinations accept without complaint. */
const BATCH_LINES = 1_000
const BATCH_BYTES = 512 * 1024
/** How long lines wait for more lines before they are sent. */
const GATHER_MS = 500
/** The longest pause that a destination may ask for; after it, the destination is tried anyway. */
const MAX_REQUESTED_PAUSE_MS = 600_000
/** Length of a destination's error as it is shown; the error for a wrong certificate may name many hosts. */
const MAX_ERROR_CHARACTERS = 500
/** After this many refusals in a row single lines are not the cause, so the refused ones are no longer searched for. */
const MAX_SEARCHED_REFUSALS = 3

/** How one service's lines are read. */
interface Reading {
  reader: ForwardReader
  /** Lines per batch: fewer after a destination refused one, and more again as it accepts them. */
  maxLines: number
  /** Refusals by which lines were dropped, since it last accepted some. */
  refused: number
  /** Records what the destination accepted, if that failed before, as on a full disk, so that it is not sent again. */
  record: (() => void) | null
}

/**
 * Forwards the lines of services to one destination. The stored log is the queue: the position in it advances when the
 * destination has accepted the lines, so a kill loses nothing. Lines that retention removes before they are sent are
 * counted.
 */
export class Drain {
  readonly #id: string
  readonly #destination: DrainDestination
  readonly #stop = new AbortController()
  readonly #services = new Map<string, Promise<void>>()
  #failures = 0

  constructor(row: DrainRow) {
    this.#id = row.id
    const { url, token } = openDestination(row)
    this.#destination = openDrainDestination(row.kind, url, token)
  }

  /** Starts reading services that are new to it: with `startsNow` from the end of their log, otherwise from the start. */
  follow(row: DrainRow, startsNow: boolean): void {
    for (const id of servicesOf(row)) {
      if (this.#services.has(id)) continue
      this.#services.set(
        id,
        this.#run(id, startsNow).finally(() => this.#services.delete(id)),
      )
    }
  }

  /** Stops sending; lines in flight are sent again by the next start. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await Promise.all(this.#services.values())
    this.#destination.close()
  }

  async #run(serviceId: string, startsNow: boolean): Promise<void> {
    const own = serviceLog(serviceId)
    const stop = AbortSignal.any([this.#stop.signal, own.removed])
    const reading: Reading = { reader: new ForwardReader(), maxLines: BATCH_LINES, refused: 0, record: null }
    while (!stop.aborted) {
      try {
        if (placeOf(this.#id, serviceId) === null)
          beginAt(this.#id, serviceId, startsNow ? await own.end() : 0)
        // Wait from before the read, so that lines that arrive during it are noticed.
        const more = own.grown.wait(stop)
        if (await this.#sendNext(reading, serviceId, stop)) continue
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
  async #sendNext(reading: Reading, serviceId: string, stop: AbortSignal): Promise<boolean> {
    this.#record(reading)
    const place = placeOf(this.#id, serviceId)
    const origin = originOf(serviceId)
    if (place === null || !origin) return false
    const slices = await serviceLog(serviceId).stored()
    const batch = await reading.reader.next(slices, place, reading.maxLines, BATCH_BYTES)
    if (!batch) return false
    if (batch.first > place) this.#recordRemoved(serviceId, batch.first, batch.first - place)
    const lines = linesIn(batch.text.toString('utf8')).map((line) => JSON.parse(line) as LogLine)
    const next = batch.first + batch.count
    try {
      await this.#destination.send(origin, lines, stop)
      reading.record = () => recordSent(this.#id, serviceId, next, lines.length)
      this.#record(reading)
      reading.refused = 0
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      // One refused line must not cause the others to be dropped.
      const isSearched = error.isTooLarge || reading.refused < MAX_SEARCHED_REFUSALS
      if (isSearched && batch.count > 1) {
        reading.maxLines = Math.ceil(batch.count / 2)
        return true
      }
      this.#dropRefused(serviceId, next, batch.count, error.message)
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

  #dropRefused(serviceId: string, next: number, dropped: number, error: string): void {
    recordDropped(this.#id, serviceId, next, dropped, error)
    if (this.#showError(error))
      log.warn('a log drain refused lines; they were dropped', { drain: this.#id, service: serviceId, error })
  }

  #recordRemoved(serviceId: string, next: number, dropped: number): void {
    recordDropped(this.#id, serviceId, next, dropped, 'they were removed before they were sent')
    log.warn('lines were removed before a log drain had sent them', {
      drain: this.#id,
      service: serviceId,
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
  const line: LogLine = {
    ts: new Date().toISOString(),
    stream: 'system',
    line: `a test of the log drain ${row.name}`,
  }
  try {
    await destination.send({ serviceId: 'none', service: 'deployer', environment: 'none' }, [line], signal)
    return { ok: true, error: null }
  } catch (error) {
    return { ok: false, error: plainLine(messageOf(error), MAX_ERROR_CHARACTERS) }
  } finally {
    destination.close()
  }
}

function originOf(serviceId: string): Origin | null {
  const service = getService(serviceId)
  return service
    ? { serviceId, service: service.name, environment: environmentName(service.environment_id)! }
    : null
}
