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
import type { Traffic } from '#server/metrics/traffic.ts'
import { viewCurrent, viewHistory, viewServiceMetrics } from '#server/metrics/views.ts'
import { ownNodeId } from '#server/nodes/store.ts'
import type { Task } from '../work/driver.ts'
import type { World } from '../world.ts'
import { readContainers } from './containers.ts'
import { readHost } from './host.ts'
import { forgetGone, keptSums } from './kept-sums.ts'
import { OtherNodes } from './other-nodes.ts'
import { readRequests } from './requests.ts'

const log = logger('metrics')

const EVERY_MS = 10_000
/** How long after the start of a step a round begins, so that an early timer does not put two readings into one step. */
const STEP_OFFSET_MS = 1_000
/** Minimum time between rounds, so that a timer that fires early does not start a second one. */
const SLACK_MS = 1_000
/** Rounds between two saves: a kill loses at most a minute of readings. */
const ROUNDS_PER_SAVE = 6
/** Rounds between two prunings of the history; what is too old is not shown anyway. */
const ROUNDS_PER_PRUNE = 60
/** Over a shorter time, rates would be those of single packets. */
const MIN_GAP_SECONDS = 1
/** Rates over a longer time are not current. */
const MAX_GAP_SECONDS = 60
/** A request for current metrics waits only this long for an engine that did not answer in the last round. */
const UNRESPONSIVE_LIST_MS = 2_000

/** Measures the host, the containers and the requests every 10 s, keeps a history, and returns current metrics. */
export class Metrics {
  readonly #world: World
  readonly #others: OtherNodes
  readonly #history = openHistory(join(useContext().options.dataDirectory, 'metrics.db'))
  #last: Sample | null = null
  readonly #sums = keptSums()
  #rounds = 0
  /** The sample that current metrics were last computed from. */
  #lastCurrent: Sample | null = null
  #measuring: Promise<CurrentMetrics> | null = null

  constructor(world: World) {
    this.#world = world
    this.#others = new OtherNodes(world)
  }

  /** The task that measures. It paces itself, so that each step of the history gets a reading. */
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

  /** Returns current metrics; takes about a second. Concurrent calls share one measurement. */
  current(): Promise<CurrentMetrics> {
    this.#measuring ??= this.#measure().finally(() => (this.#measuring = null))
    return this.#measuring
  }

  /** Returns the steps of a range up to now. */
  history(range: Range): MetricsHistory {
    return viewHistory(this.#history, range, Date.now())
  }

  /** Returns the same for one service. */
  historyOf(serviceId: string, range: Range): ServiceMetrics {
    return viewServiceMetrics(this.#history, serviceId, range, Date.now())
  }

  /** Returns the requests of each service in the last hour, in few points. */
  traffic(): Traffic {
    return this.#history.traffic(Date.now())
  }

  /** Writes the readings since the last save. */
  stop(): void {
    this.#save()
    this.#history.close()
  }

  async #round(signal: AbortSignal): Promise<void> {
    const at = Date.now()
    const before = this.#last
    const [sample, requests] = await Promise.all([
      this.#sample(signal),
      readRequests(this.#world, this.#sums),
    ])
    signal.throwIfAborted()
    // A data plane that was not reached keeps counting, so its next counts are compared with the last that it sent.
    const after = { ...sample, requests }
    this.#last = { ...after, requests: requests ?? before?.requests ?? null }
    const reading = before && readingBetween(before, after)
    publishLatest({ sample: after, reading })
    if (reading) this.#history.add(at, reading)
    this.#rounds++
    if (this.#rounds % ROUNDS_PER_PRUNE === 0) {
      this.#history.forget(at)
      forgetGone(this.#sums)
    }
    if (this.#rounds % ROUNDS_PER_SAVE === 0) this.#save()
  }

  async #sample(signal: AbortSignal, listMs?: number): Promise<Sample> {
    const own = { nodeId: ownNodeId(), engine: this.#world.engine }
    const [host, containers, others] = await Promise.all([
      readHost(),
      readContainers(own, signal, listMs),
      this.#others.read(signal),
    ])
    const isUnknown = containers === null && others.length === 0
    return { host, containers: isUnknown ? null : [...(containers ?? []), ...others], requests: null }
  }

  async #measure(): Promise<CurrentMetrics> {
    const { stopping } = useContext()
    const listMs = this.#last?.containers === null ? UNRESPONSIVE_LIST_MS : undefined
    const before = this.#recentSample() ?? (await this.#sample(stopping, listMs))
    const apart = clock() - before.host.clock
    if (apart < MIN_GAP_SECONDS)
      await delay((MIN_GAP_SECONDS - apart) * 1_000, undefined, { signal: stopping })
    const after = await this.#sample(stopping, listMs)
    this.#lastCurrent = after
    return viewCurrent(Date.now(), after, readingBetween(before, after), freshLatest()?.reading ?? null)
  }

  #recentSample(): Sample | null {
    return this.#lastCurrent && clock() - this.#lastCurrent.host.clock <= MAX_GAP_SECONDS
      ? this.#lastCurrent
      : null
  }

  #save(): void {
    try {
      this.#history.save()
    } catch (error) {
      log.warn('the metrics of the last minute cannot be written', { error: messageOf(error) })
    }
  }
}

/** Returns the time until the next round by the wall clock, with which the steps are aligned. */
function untilNextRound(now: number): number {
  return EVERY_MS - ((now - STEP_OFFSET_MS + SLACK_MS) % EVERY_MS) + SLACK_MS
}

function clock(): number {
  return performance.now() / 1_000
}
