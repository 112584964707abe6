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
import { openDrainDestination, Refusal, Unready, type DrainDestination } from './destinations.ts'

const log = logger('log drains')

/** Sent at once: what targets take without complaint. */
const BATCH_LINES = 1_000
const BATCH_BYTES = 512 * 1024
/** Lines wait this long for others. */
const GATHER_MS = 500
/** A target that asks for a longer one is tried all the same: it may have meant less. */
const LONGEST_ASKED_PAUSE_MS = 600_000
/** Of what a target says, for people; a certificate that is not the right one may name many hosts. */
const MAX_SAID_CHARACTERS = 500
/** After so many refusals without a line that was taken the lines are not at fault, and are no more looked for one by one. */
const MOST_SOUGHT = 3

/** How one service's lines are read. */
interface Reading {
  reader: ForwardReader
  /** At once: fewer after a target refused a batch, and more again as it takes them. */
  maxLines: number
  /** Refusals that left lines out, since it last took some. */
  refused: number
  /** Records what the target took, when that could not be done yet, as with a full disk: it is not sent again. */
  record: (() => void) | null
}

/**
 * Sends the lines of services on to one target. The stored log is the queue: a place in it is moved on when the target
 * has taken what stood there, so that nothing is lost by a kill, and what its bounds remove before is counted.
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

  /** Takes up the services that are new. `isNew` ones have printed nothing that belongs to this drain before. */
  follow(row: DrainRow, startsNow: boolean): void {
    for (const id of servicesOf(row)) {
      if (this.#services.has(id)) continue
      this.#services.set(
        id,
        this.#run(id, startsNow).finally(() => this.#services.delete(id)),
      )
    }
  }

  /** Ends the sending; what is under way is sent again by the next start. */
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
        // Told of what comes while it is looked.
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

  /** Sends what comes next; answers whether there was anything. Throws when it is to be tried again. */
  async #sendNext(reading: Reading, serviceId: string, stop: AbortSignal): Promise<boolean> {
    this.#record(reading)
    const place = placeOf(this.#id, serviceId)
    const origin = originOf(serviceId)
    if (place === null || !origin) return false
    const slices = await serviceLog(serviceId).stored()
    const batch = await reading.reader.next(slices, place, reading.maxLines, BATCH_BYTES)
    if (!batch) return false
    if (batch.first > place) this.#sayDropped(serviceId, batch.first, batch.first - place)
    const lines = linesIn(batch.text.toString('utf8')).map((line) => JSON.parse(line) as LogLine)
    const next = batch.first + batch.count
    try {
      await this.#destination.send(origin, lines, stop)
      reading.record = () => recordSent(this.#id, serviceId, next, lines.length)
      this.#record(reading)
      reading.refused = 0
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      // One line that is not wanted must not take the others with it.
      const isSought = error.isTooLarge || reading.refused < MOST_SOUGHT
      if (isSought && batch.count > 1) {
        reading.maxLines = Math.ceil(batch.count / 2)
        return true
      }
      this.#sayRefused(serviceId, next, batch.count, error.message)
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
    const error = plainLine(messageOf(fault), MAX_SAID_CHARACTERS)
    try {
      recordDelivery(this.#id, { status: 'failed', lines: 0, error })
      if (this.#tellError(error))
        log.warn('a log drain cannot be sent to; it is tried again', { drain: this.#id, error })
    } catch (untold) {
      log.error('a log drain cannot be sent to, nor be told so', {
        drain: this.#id,
        error: messageOf(untold),
      })
    }
    const asked = fault instanceof Unready ? Math.min(LONGEST_ASKED_PAUSE_MS, fault.waitMs) : 0
    const { drainPauseMs, maxDrainPauseMs } = schedule
    const ownMs = backoffMs(++this.#failures, { firstMs: drainPauseMs, longestMs: maxDrainPauseMs })
    // Ended early by the stop, which the loop looks at itself.
    await delay(jittered(Math.max(asked, ownMs)), undefined, { signal: stop }).catch(() => {})
  }

  /** Shows an error at the drain; answers whether it is another than before. */
  #tellError(error: string): boolean {
    const row = drains.get(this.#id)
    if (!row || row.last_error === error) return false
    drains.update(this.#id, { last_error: error })
    return true
  }

  #sayRefused(serviceId: string, next: number, dropped: number, error: string): void {
    recordDropped(this.#id, serviceId, next, dropped, error)
    if (this.#tellError(error))
      log.warn('a log drain refuses lines; they are left out', { drain: this.#id, service: serviceId, error })
  }

  #sayDropped(serviceId: string, next: number, dropped: number): void {
    recordDropped(this.#id, serviceId, next, dropped, 'they were removed before they were sent')
    log.warn('lines were removed before a log drain has sent them', {
      drain: this.#id,
      service: serviceId,
      dropped,
    })
  }
}

/** Sends one line to a target, and says how that ended. */
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
    return { ok: false, error: plainLine(messageOf(error), MAX_SAID_CHARACTERS) }
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
