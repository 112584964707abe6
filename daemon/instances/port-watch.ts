import { schedule } from '#server/options/schedule.ts'
import type { Engine, Listener } from '../engine/index.ts'

/** Where a program is expected to listen, and what is done when it listens elsewhere. */
export interface Expected {
  /** The port that is probed now. */
  port(): number
  /** Takes the only port that the program listens on; null where the port is somebody's choice. */
  take: ((port: number) => void) | null
  /** Tells the reader of the log at once. */
  say: (hint: string) => void
}

/** Finds out a program that listens, but not where it is expected. */
export class PortWatch {
  readonly #engine: Engine
  readonly #name: string
  readonly #expected: Expected
  /** What was seen when the last look differed from the one before it, and since when. */
  #seen = ''
  #since = 0
  #fault: string | null = null
  #isFinal = false

  constructor(engine: Engine, name: string, expected: Expected) {
    this.#engine = engine
    this.#name = name
    this.#expected = expected
  }

  /** Where the program listens instead, and what to do; null when nothing is wrong with that. */
  get fault(): string | null {
    return this.#fault
  }

  /** Whether waiting is in vain: it has taken the port, for itself alone. */
  get isFinal(): boolean {
    return this.#isFinal
  }

  /** Looks at what the program listens on now. */
  async look(): Promise<void> {
    const listeners = await this.#engine.containers.listeners(this.#name)
    if (listeners === null) return
    const seen = listeners.map(({ host, port }) => `${host}:${port}`).join(' ')
    if (seen !== this.#seen) this.#since = performance.now()
    this.#seen = seen
    const isSettled = performance.now() - this.#since >= schedule.portSettlesMs
    const expected = this.#expected.port()
    const own = listeners.find(({ port }) => port === expected)
    const open = listeners.filter(({ isLoopback }) => !isLoopback)
    const [only] = open
    if (!own && only && open.length === 1 && isSettled && this.#expected.take) {
      this.#expected.say(`the program listens on port ${only.port} alone: its requests go there`)
      this.#fault = null
      return this.#expected.take(only.port)
    }
    this.#isFinal = own?.isLoopback === true && isSettled
    this.#tell(faultOf(listeners, open, own, expected))
  }

  #tell(fault: string | null): void {
    if (fault !== null && fault !== this.#fault) this.#expected.say(fault)
    this.#fault = fault
  }
}

function faultOf(
  listeners: Listener[],
  open: Listener[],
  own: Listener | undefined,
  expected: number,
): string | null {
  if (own)
    return own.isLoopback ? `the program listens on ${own.host}:${own.port} only: listen on 0.0.0.0` : null
  if (open.length > 0) {
    const heard =
      open.length === 1 ? `port ${open[0]!.port}` : `ports ${open.map(({ port }) => port).join(', ')}`
    return `the program listens on ${heard}, not on port ${expected}: set port, or listen on $PORT`
  }
  if (listeners.length === 0) return null
  const heard = listeners.map(({ host, port }) => `${host}:${port}`).join(', ')
  return `the program listens on ${heard} only: listen on 0.0.0.0, and on $PORT (${expected})`
}
