import { setTimeout as delay } from 'node:timers/promises'
import { ActiveFaults } from './active-faults.ts'
import { drawCalls, type NamedCall } from './calls/index.ts'
import { checkAnswers, checkSteady, type Steady } from './checks/answers.ts'
import { askDoctor, checkOrphans } from './checks/orphans.ts'
import { differences, explains, learnIds, readActual, type Actual } from './checks/recorded.ts'
import { passing } from './checks/settled.ts'
import { checkWork, learnDeploys } from './checks/work.ts'
import { drawOf } from './draw.ts'
import type { Fault } from './faults.ts'
import { Finding } from './finding.ts'
import { BASE_DOMAIN, newModel, PRODUCTION, type Model } from './model.ts'
import type { Rig } from './rig.ts'
import { send, type Outcome } from './sending.ts'

const MAX_CALLS = 3
const SHARE_OF_FAULTS = 0.6
/** The calls of a round begin within this time. */
const CALLS_WITHIN_MS = 300
const POLL_MS = 200

export interface ChaosOptions {
  seed: number
  /** Rounds between two times when everything becomes quiet. */
  rounds: number
  /** How long everything may take to become quiet. */
  quietMs: number
  /** What is drawn from when something is to fail. */
  faults: readonly Fault[]
  /** Asked before each storm, given how many there were. */
  goesOn(storms: number): boolean
}

/** What happened in a run. */
export interface Report {
  calls: number
  acknowledged: number
  refused: number
  /** Calls whose answer was lost or an error of the server. */
  unknown: number
  /** How often each fault was struck. */
  faults: Record<string, number>
  /** Seconds until everything was quiet after each storm. */
  quiet: number[]
  /** Deploys and jobs that failed because of a fault, by their errors. */
  failures: Record<string, number>
}

/**
 * Sends random valid calls while things are taken from the server, and checks between the storms that it keeps what it
 * promises. `run` throws a Finding for the first contradiction.
 */
export class Chaos {
  readonly report: Report
  readonly #rig: Rig
  readonly #options: ChaosOptions
  readonly #faults: ActiveFaults
  #model = newModel()
  #steady: Steady[] = []
  #round = 0
  /** The last round before everything was quiet. */
  #quietRound = 0

  constructor(rig: Rig, options: ChaosOptions) {
    this.#rig = rig
    this.#options = options
    this.#faults = new ActiveFaults(rig, options.faults)
    const counts = { calls: 0, acknowledged: 0, refused: 0, unknown: 0 }
    this.report = { ...counts, faults: this.#faults.counts, quiet: [], failures: {} }
  }

  /** Runs storms until `goesOn` says no, then deletes everything and checks that nothing is left. */
  async run(): Promise<Report> {
    for (let storms = 0; this.#options.goesOn(storms); storms++) {
      // The first storm is without faults: it shows that model and server agree.
      for (let at = 0; at < this.#options.rounds; at++) await this.#runRound(storms > 0)
      await this.#becomeQuiet()
    }
    await this.#removeAll()
    return this.report
  }

  async #runRound(hasFaults: boolean): Promise<void> {
    const round = ++this.#round
    const draw = drawOf(this.#options.seed, round)
    const calls = await drawCalls({ model: this.#model, draw, round }, 1 + draw.below(MAX_CALLS))
    const pauses = calls.map(() => draw.below(CALLS_WITHIN_MS))
    this.#rig.note(['round', round, ...this.#faults.names].join(' '))
    const sent = calls.map((call, at) =>
      delay(pauses[at]).then(() => send(this.#rig, call, () => this.#faults.isDiskFull(round))),
    )
    // Awaited below; until then a Finding must not count as unhandled.
    const outcomes = Promise.all(sent)
    outcomes.catch(() => {})
    if (hasFaults && draw.chance(SHARE_OF_FAULTS))
      await this.#faults.strike(round, draw, () => this.#checkServing(calls))
    const all = await outcomes
    await this.#faults.endRound()
    this.#rig.assertRunning()
    await this.#learn(all)
  }

  /** While the control plane is down, checks that what no call and no fault was about is served as before. */
  async #checkServing(calls: readonly NamedCall[]): Promise<void> {
    if (!this.#rig.isDown) return
    const subjects = calls.flatMap((call) => call.subjects)
    const untouched = this.#steady.filter(({ place }) => {
      const service = this.#model.services[place]
      if (!service || service.touched > this.#quietRound) return false
      return !subjects.includes(place) && !this.#rig.disturbed.has(service.id!)
    })
    await checkSteady(this.#rig, untouched)
    this.#rig.note(`  ${untouched.length} hosts answer as before`)
  }

  /** Changes the model by what was acknowledged, and finds out what came of the rest by reading. */
  async #learn(outcomes: readonly Outcome[]): Promise<void> {
    this.report.calls += outcomes.length
    for (const { is } of outcomes) this.report[is]++
    for (const outcome of outcomes)
      if (outcome.is === 'acknowledged') outcome.call.apply(this.#model, outcome.answer)
    const unknown = outcomes.filter(({ is }) => is === 'unknown').map(({ call }) => call)
    const actual = await readActual(this.#rig)
    const possible = modelsOf(this.#model, unknown)
    const model = possible.find((each) => explains(each, actual))
    if (!model)
      throw new Finding(
        `what was acknowledged is not there, or something else is; the nearest of ${possible.length} possible outcomes:\n${nearest(possible, actual)}`,
      )
    this.#model = model
    learnIds(model, actual)
    await learnDeploys(this.#rig, model)
  }

  async #becomeQuiet(): Promise<void> {
    await this.#faults.endAll()
    this.#rig.note('quiet')
    const seconds = await this.#untilSettled()
    this.report.quiet.push(seconds)
    this.#rig.note(`  after ${seconds.toFixed(1)} s`)
    await this.#learn([])
    for (const failure of await checkWork(this.#rig, this.#model, this.#faults.struck)) {
      const kind = failure.replaceAll(/[a-z]{3}-[0-9a-f]{20}(-[0-9a-f]{5})?/g, 'X')
      this.report.failures[kind] = (this.report.failures[kind] ?? 0) + 1
    }
    this.#steady = await checkAnswers(this.#rig, this.#model)
    await checkOrphans(this.#rig)
    await askDoctor(this.#rig)
    this.#model.leaving = []
    this.#faults.struck = []
    this.#rig.disturbed.clear()
    this.#quietRound = this.#round
  }

  async #untilSettled(): Promise<number> {
    const began = performance.now()
    for (;;) {
      const left = await passing(this.#rig, this.#model)
      const took = performance.now() - began
      if (left.length === 0) return took / 1_000
      if (took > this.#options.quietMs)
        throw new Finding(`after ${Math.round(took / 1_000)} s without faults and calls:\n${left.join('\n')}`)
      await delay(POLL_MS)
    }
  }

  /** Deletes everything; then nothing of it may be left. */
  async #removeAll(): Promise<void> {
    const { services, datastores, groups, domains, environments } = this.#model
    const running = [
      ...Object.values(services).map(({ id }) => `/services/${id}?force`),
      ...Object.values(datastores).map(({ id }) => `/datastores/${id}?force`),
    ]
    const rest = [
      ...Object.keys(groups).map((name) => `/env-groups/${name}?force`),
      ...domains.filter((name) => name !== BASE_DOMAIN).map((name) => `/domains/${name}`),
      ...environments.filter((name) => name !== PRODUCTION).map((name) => `/environments/${name}`),
    ]
    this.#rig.note('everything is deleted')
    const remove = async (path: string): Promise<void> => {
      const { status, body } = await this.#rig.server.api('DELETE', path)
      if (status !== 204) throw new Finding(`DELETE ${path} -> ${status} ${JSON.stringify(body)}`)
    }
    await Promise.all(running.map(remove))
    for (const path of rest) await remove(path)
    this.#model = { ...newModel(), tokens: this.#model.tokens, revoked: this.#model.revoked }
    await this.#becomeQuiet()
  }
}

/** The models in which each of some calls has been done or not, those in which more are done first. */
function modelsOf(model: Model, unknown: readonly NamedCall[]): Model[] {
  return Array.from({ length: 2 ** unknown.length }, (_, mask) => {
    const next = structuredClone(model)
    for (const [at, call] of unknown.entries()) if ((mask & (1 << at)) === 0) call.apply(next, null)
    return next
  })
}

function nearest(possible: readonly Model[], actual: Actual): string {
  return possible
    .map((model) => differences(model, actual))
    .reduce((best, next) => (next.length < best.length ? next : best))
}
