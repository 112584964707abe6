import { setTimeout as delay } from 'node:timers/promises'
import { forEachLimited } from '#daemon/work/each.ts'
import { messageOf } from '#server/errors.ts'
import type { HostEngine, Inspected, Listed } from './engine.ts'
import { Stops } from './stops.ts'

/** What runs for good: not jobs, commands before a deploy, shells, and what fills or copies data, which end. */
const KINDS = new Set(['instance', 'datastore'])
/** The restart policy of what the server looks after. */
const OF_SERVER = 'no'
/**
 * That of what the agent looks after, which also marks it: a new agent knows it by that. Not `always`: an engine
 * that is started again would start what was stopped too.
 */
const OF_AGENT = 'unless-stopped'
/** How many containers are changed or started at the same time. */
const PARALLEL = 4
/**
 * The server waits for what runs here no longer than that, though the engine hangs. Shorter than an absence, so that a server that
 * waits in silence is not taken for one that is away again.
 */
const HAND_BACK_MS = 12_000
/** For how long, and how often, what the engine refuses is tried again while the server waits. */
const AGAIN_WITHIN_MS = 1_000
const AGAIN_MS = 300

/**
 * For so long the server must not have been heard. A new version of it is there again after a few seconds, and it cuts its own
 * lines to a node that has said nothing for 10 s, so that nothing which it began before is still on its way.
 */
const AWAY_MS = 15_000
/** The pause between two looks at the containers while it is away. */
const LOOK_MS = 5_000

/**
 * Stands in for a server that is away: has the engine start again what ends here meanwhile, and starts what the engine has given
 * up. Once the server is heard, nothing but the server starts a container again.
 */
export class StandIn {
  /** Called when the server counts as away, before anything is changed: from then on it must connect again to be let in. */
  onAway: () => void = () => {}
  readonly #engine: HostEngine
  readonly #label: string
  readonly #waits: { awayMs: number; lookMs: number; handBackMs: number }
  readonly #stops: Stops
  /** What it looks after, by id, with a time until when it was certainly not told to end. */
  readonly #held = new Map<string, number>()
  /** When the server was last heard, or else this began: on the monotonic clock, and on that of the engine. */
  #heardAt = performance.now()
  #heardTime = Date.now()
  #wasHeard = false
  /** Ends when the server is heard; null while it is there. */
  #absence: AbortController | null = null
  /** Whether the server has everything back: what an earlier agent left is unknown at first. */
  #isHandedBack = false
  #handingBack: Promise<void> | null = null
  /** When that was last tried in vain since the absence. */
  #triedAt: number | null = null
  /** The last piece of work: two at once would undo each other. */
  #work: Promise<unknown> = Promise.resolve()

  constructor(
    engine: HostEngine,
    serverId: string,
    waits = { awayMs: AWAY_MS, lookMs: LOOK_MS, handBackMs: HAND_BACK_MS },
  ) {
    this.#engine = engine
    this.#label = `deployer.server=${serverId}`
    this.#waits = waits
    this.#stops = new Stops(engine, this.#label)
  }

  /** Follows whether the server is there, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    void this.#stops.follow(signal)
    while (!signal.aborted) {
      const restMs = this.#heardAt + this.#waits.awayMs - performance.now()
      if (restMs <= 0) await this.#standIn()
      const pauseMs = restMs > 0 ? restMs : this.#waits.lookMs
      await delay(pauseMs, undefined, { signal }).catch(() => {})
    }
  }

  /**
   * Notes that the server is there. Resolves once it has back what runs here, but for what the engine refuses: that is tried again
   * while it is there, and not waited for.
   */
  async heard(): Promise<void> {
    this.#heardAt = performance.now()
    this.#heardTime = Date.now()
    this.#wasHeard = true
    this.#absence?.abort()
    this.#absence = null
    if (this.#isHandedBack) return
    const wasTried = this.#triedAt !== null
    if (wasTried && this.#heardAt - this.#triedAt! < this.#waits.lookMs) return
    this.#handingBack ??= this.#beginHandBack().finally(() => (this.#handingBack = null))
    if (!wasTried) await this.#handingBack
  }

  async #standIn(): Promise<void> {
    if (!this.#absence) {
      say(`the server has not been heard for ${this.#waits.awayMs / 1_000} s: looking after what runs here`)
      this.#absence = new AbortController()
      this.#isHandedBack = false
      this.#triedAt = null
      this.onAway()
    }
    const { signal } = this.#absence
    await this.#inTurn(() => this.#look(signal)).catch((error: unknown) => say(messageOf(error)))
  }

  /** Takes over what runs, and starts what has ended but was not told to. */
  async #look(signal: AbortSignal): Promise<void> {
    const found = await this.#containers(signal)
    await each(found, async (one) => {
      if (!signal.aborted && !this.#held.has(one.id)) await this.#hold(one, signal)
    })
    // Last, since a start may take long.
    const ended = found.filter((one) => hasEnded(one) && this.#held.has(one.id))
    await each(ended, async ({ id, name }) => {
      if (signal.aborted) return
      const { startedAt, endedAt } = await this.#engine.inspect(id, signal)
      const unstoppedAt = Math.max(startedAt, this.#held.get(id)!)
      if (signal.aborted || !this.#stops.hasEndedByItself(id, { startedAt: unstoppedAt, endedAt })) return
      await this.#engine.start(id, signal)
      say(`${name} had ended: started`)
    })
  }

  /** Takes over a container if it is to be kept running. */
  async #hold({ id, state }: Listed, signal: AbortSignal): Promise<void> {
    const inspected = await this.#engine.inspect(id, signal)
    const wasEarlier = inspected.policy === OF_AGENT && !this.#wasHeard
    // An engine that starts ends by itself what still runs, as if it was told to. That was before this agent, which ended too.
    if (wasEarlier) this.#stops.forget(id, this.#heardTime)
    const { endedAt } = inspected
    const startedAt = wasEarlier ? Date.now() : inspected.startedAt
    const isStopped = hasEnded({ state })
      ? !this.#stops.hasEndedByItself(id, { startedAt, endedAt })
      : this.#stops.isEnding(id)
    const seen = { since: this.#heardTime, wasHeard: this.#wasHeard, isStopped }
    if (signal.aborted || !isToBeKept({ state, ...inspected }, seen)) return
    // Not cut short: the engine might do it nevertheless, after it was given back.
    if (inspected.policy !== OF_AGENT) await this.#engine.setPolicy(id, OF_AGENT)
    this.#held.set(id, wasEarlier || hasEnded({ state }) ? Date.now() : 0)
  }

  /** Gives the server back what is looked after, by an earlier agent too; what came before in turn takes of its time. */
  #beginHandBack(): Promise<void> {
    const end = AbortSignal.timeout(this.#waits.handBackMs)
    return this.#inTurn(() => this.#handBack(end))
  }

  async #handBack(end: AbortSignal): Promise<void> {
    const began = performance.now()
    let isDone = await this.#releaseAll(end)
    // A container that is just ending cannot be changed at that moment.
    while (!isDone && !end.aborted && performance.now() - began < AGAIN_WITHIN_MS) {
      await delay(AGAIN_MS)
      isDone = await this.#releaseAll(end)
    }
    this.#held.clear()
    // It is away again: what runs here is taken over again, and must be given back again before the server is let in.
    if (this.#absence) return
    this.#triedAt = performance.now()
    this.#isHandedBack = isDone
  }

  /** Returns whether nothing is looked after any more. */
  async #releaseAll(end: AbortSignal): Promise<boolean> {
    try {
      return await each(await this.#containers(end), ({ id }) => this.#release(id, end))
    } catch (error) {
      say(messageOf(error))
      return false
    }
  }

  async #release(id: string, end: AbortSignal): Promise<void> {
    const { policy, isRestarting } = await this.#engine.inspect(id, end)
    if (policy !== OF_AGENT) return
    // A change of its policy does not end the engine's wait.
    if (isRestarting) await this.#engine.stop(id, end)
    await this.#engine.setPolicy(id, OF_SERVER, end)
  }

  /** What runs for good here, or has ended. */
  async #containers(signal: AbortSignal): Promise<Listed[]> {
    const found = await this.#engine.list(this.#label, signal)
    return found.filter(({ labels }) => KINDS.has(labels['deployer.kind'] ?? ''))
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#work.then(work)
    this.#work = done.catch(() => {})
    return done
  }
}

/**
 * Whether a container is to be kept running: it was not told to end, and runs, or has ended since the server was last heard, which
 * would have started it again. If the server was never heard, so is what an earlier agent looked after.
 */
export function isToBeKept(
  { state, policy, endedAt }: Pick<Listed, 'state'> & Pick<Inspected, 'policy' | 'endedAt'>,
  { since, wasHeard, isStopped }: { since: number; wasHeard: boolean; isStopped: boolean },
): boolean {
  if (isStopped) return false
  if (!hasEnded({ state })) return state === 'running' || state === 'restarting' || state === 'paused'
  return endedAt >= since || (policy === OF_AGENT && !wasHeard)
}

function hasEnded({ state }: Pick<Listed, 'state'>): boolean {
  return state === 'exited'
}

/** Does something with each container; one that fails keeps nothing from the others. Returns whether none did. */
async function each(found: readonly Listed[], work: (one: Listed) => Promise<void>): Promise<boolean> {
  let isFine = true
  await forEachLimited(found, PARALLEL, async (one) => {
    try {
      await work(one)
    } catch (error) {
      isFine = false
      say(`${one.name}: ${messageOf(error)}`)
    }
  })
  return isFine
}

function say(text: string): void {
  process.stderr.write(`${text}\n`)
}
