import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { useContext } from '#server/context.ts'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { freshLatest, publishLatest } from '#server/metrics/latest.ts'
import { openHistory } from '#server/metrics/open-history.ts'
import { readingBetween } from '#server/metrics/reading.ts'
import type { Sample } from '#server/metrics/sample.ts'
import type { CurrentMetrics, MetricsHistory, Range, ServiceMetrics } from '#server/metrics/schema.ts'
import { viewCurrent, viewHistory, viewServiceMetrics } from '#server/metrics/views.ts'
import type { Task } from '../work/driver.ts'
import type { World } from '../world.ts'
import { readContainers } from './containers.ts'
import { readHost } from './host.ts'
import { readRequests } from './requests.ts'

const log = logger('metrics')

const EVERY_MS = 10_000
/** After the start of a step: a timer that fires a little early must not put two readings into one step. */
const INTO_STEP_MS = 1_000
/** Rounds are at least this far apart, and a timer that fires early makes no second one. */
const SLACK_MS = 1_000
/** A kill loses at most what was read in this many rounds: a minute. */
const ROUNDS_A_SAVE = 6
/** What is too old is no longer shown anyway. */
const ROUNDS_A_CLEARING = 60
/** Over less than this, speeds would be those of single packets. */
const LEAST_APART_SECONDS = 1
/** Speeds over a longer time are not those of now. */
const MOST_APART_SECONDS = 60
/** Who asks what happens now does not wait for long for an engine that has not answered the last round. */
const SILENT_LIST_MS = 2_000

/** Measures the host, the containers and the requests every 10 s, keeps what it found, and answers what happens now. */
export class Metrics {
  readonly #world: World
  readonly #history = openHistory(join(useContext().options.dataDirectory, 'metrics.db'))
  #last: Sample | null = null
  #rounds = 0
  /** What current metrics were last told from. */
  #told: Sample | null = null
  #telling: Promise<CurrentMetrics> | null = null

  constructor(world: World) {
    this.#world = world
  }

  /** The task that measures. It paces itself, so that each step of the history gets its reading. */
  task(): Task {
    return {
      name: 'metrics',
      everyMs: 0,
      run: async (signal) => {
        if (this.#last !== null) await delay(untilNextRound(Date.now()), undefined, { signal })
        await this.#round(signal)
      },
    }
  }

  /** What is happening now; takes about a second. Calls at one time share one look. */
  current(): Promise<CurrentMetrics> {
    this.#telling ??= this.#tell().finally(() => (this.#telling = null))
    return this.#telling
  }

  /** The steps of a range up to now. */
  history(range: Range): MetricsHistory {
    return viewHistory(this.#history, range, Date.now())
  }

  /** The same of one service. */
  historyOf(serviceId: string, range: Range): ServiceMetrics {
    return viewServiceMetrics(this.#history, serviceId, range, Date.now())
  }

  /** Writes what was read since the last time. */
  stop(): void {
    this.#save()
    this.#history.close()
  }

  async #round(signal: AbortSignal): Promise<void> {
    const at = Date.now()
    const before = this.#last
    const [sample, requests] = await Promise.all([this.#sample(signal), readRequests(this.#world.dataPlane)])
    signal.throwIfAborted()
    // A data plane that was not reached has counted on: what it was when it last answered is what to compare with.
    const after = { ...sample, requests }
    this.#last = { ...after, requests: requests ?? before?.requests ?? null }
    const reading = before && readingBetween(before, after)
    publishLatest({ sample: after, reading })
    if (reading) this.#history.add(at, reading)
    this.#rounds++
    if (this.#rounds % ROUNDS_A_CLEARING === 0) this.#history.forget(at)
    if (this.#rounds % ROUNDS_A_SAVE === 0) this.#save()
  }

  async #sample(signal: AbortSignal, listMs?: number): Promise<Sample> {
    const { engine } = this.#world
    const [host, containers] = await Promise.all([readHost(), readContainers(engine, signal, listMs)])
    return { host, containers, requests: null }
  }

  async #tell(): Promise<CurrentMetrics> {
    const { stopping } = useContext()
    const listMs = this.#last?.containers === null ? SILENT_LIST_MS : undefined
    const before = this.#recentlyTold() ?? (await this.#sample(stopping, listMs))
    const apart = clock() - before.host.clock
    if (apart < LEAST_APART_SECONDS)
      await delay((LEAST_APART_SECONDS - apart) * 1_000, undefined, { signal: stopping })
    const after = await this.#sample(stopping, listMs)
    this.#told = after
    return viewCurrent(Date.now(), after, readingBetween(before, after), freshLatest()?.reading ?? null)
  }

  #recentlyTold(): Sample | null {
    return this.#told && clock() - this.#told.host.clock <= MOST_APART_SECONDS ? this.#told : null
  }

  #save(): void {
    try {
      this.#history.save()
    } catch (error) {
      log.warn('the metrics of the last minute cannot be written', { error: messageOf(error) })
    }
  }
}

/** By the wall clock, on which the steps stand. */
function untilNextRound(now: number): number {
  return EVERY_MS - ((now - INTO_STEP_MS + SLACK_MS) % EVERY_MS) + SLACK_MS
}

function clock(): number {
  return performance.now() / 1_000
}
