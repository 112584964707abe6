import { schedule } from '#server/options/schedule.ts'
import type { Engine, Listener } from '../engine/index.ts'

/** Where a program is expected to listen, and what to do if it listens elsewhere. */
export interface Expected {
  /** The port that is probed now. */
  port(): number
  /** Switches to the only port that the program listens on; null if the port was chosen by the user. */
  take: ((port: number) => void) | null
  /** Writes a hint into the log. */
  say: (hint: string) => void
}

/** Detects a program that listens, but not where it is expected. */
export class PortWatch {
  readonly #engine: Engine
  readonly #name: string
  readonly #expected: Expected
  /** The listeners of the last check, and since when they have been the same. */
  #seen = ''
  #since = 0
  #fault: string | null = null
  #isFinal = false

  constructor(engine: Engine, name: string, expected: Expected) {
    this.#engine = engine
    this.#name = name
    this.#expected = expected
  }

  /** Where the program listens instead, and what to do; null if nothing is wrong. */
  get fault(): string | null {
    return this.#fault
  }

  /** Whether waiting is pointless: the program has the port, but only on loopback. */
  get isFinal(): boolean {
    return this.#isFinal
  }

  /** Checks what the program listens on now. */
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
      this.#expected.say(`the program listens only on port ${only.port}: routing its requests there`)
      this.#fault = null
      return this.#expected.take(only.port)
    }
    this.#isFinal = own?.isLoopback === true && isSettled
    this.#update(faultOf(listeners, open, own, expected))
  }

  #update(fault: string | null): void {
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
    const place =
      open.length === 1 ? `port ${open[0]!.port}` : `ports ${open.map(({ port }) => port).join(', ')}`
    return `the program listens on ${place}, not on port ${expected}: set port, or listen on $PORT`
  }
  if (listeners.length === 0) return null
  const place = listeners.map(({ host, port }) => `${host}:${port}`).join(', ')
  return `the program listens on ${place} only: listen on 0.0.0.0, and on $PORT (${expected})`
}
