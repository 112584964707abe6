import { monotonicMs } from '../clock.ts'
import { HEAD_TIMEOUT_MS, IDLE_TIMEOUT_MS, LINGER_MS, READER_TIMEOUT_MS } from '../relay/waits.ts'

/** A client that says that it goes has this long for what is under way. */
const FAREWELL_MS = 10 * 60_000
/** What was on its way when the client was told to open no more streams has come by then (RFC 9113 6.8). */
const GOAWAY_NOTICE_MS = 1_000
const SETTINGS_ACK_TIMEOUT_MS = 30_000

/** What is to be done when something has not come in time. */
export const DUE = {
  nothing: 0,
  /** The connection ends at once. */
  end: 1,
  /** A head has not come. */
  head: 2,
  /** Our settings were not acknowledged. */
  settings: 3,
  /** The client is told that no other stream is served. */
  leave: 4,
} as const

/** When what is waited for of one connection must have come: in monotonic milliseconds, Infinity for never. */
export class Deadlines {
  #idleBy: number
  #headBy: number
  #settledBy: number
  #noticeUntil = Infinity
  #farewellBy = Infinity
  #drainedBy = Infinity
  #goneBy = Infinity

  constructor(now: number) {
    this.#idleBy = now + IDLE_TIMEOUT_MS
    this.#headBy = now + HEAD_TIMEOUT_MS
    this.#settledBy = now + SETTINGS_ACK_TIMEOUT_MS
  }

  /** One of `DUE`. */
  due(now: number, isReading: boolean, isPending: boolean): number {
    if (now > this.#farewellBy || now > this.#drainedBy) return DUE.end
    // What TLS has just taken is pending for a moment, what the client has not for as long as it may.
    if (now > this.#goneBy && !isPending) return DUE.end
    // While we do not read, what was cut by our last look cannot be completed.
    if (now > this.#headBy && isReading) return DUE.head
    if (now > this.#settledBy) return DUE.settings
    return now > this.#noticeUntil || now > this.#idleBy ? DUE.leave : DUE.nothing
  }

  /** Something was read, and ended amid a head or not. */
  read(isAmidHead: boolean, now: number): void {
    if (!isAmidHead) this.#headBy = Infinity
    else if (this.#headBy === Infinity) this.#headBy = now + HEAD_TIMEOUT_MS
  }

  /** The client has acknowledged our settings. */
  settled(): void {
    this.#settledBy = Infinity
  }

  /** The client has to take what was written. */
  awaitDrain(): void {
    if (this.#drainedBy === Infinity) this.#drainedBy = monotonicMs() + READER_TIMEOUT_MS
  }

  drained(): void {
    this.#drainedBy = Infinity
  }

  /** A request is under way. */
  busy(): void {
    this.#idleBy = Infinity
  }

  /** None is. */
  idle(now: number): void {
    if (this.#idleBy === Infinity) this.#idleBy = now + IDLE_TIMEOUT_MS
  }

  /** The client opens no more streams. */
  clientLeaves(now: number): void {
    this.#farewellBy = Math.min(this.#farewellBy, now + FAREWELL_MS)
  }

  /** The client was told to open no more streams. */
  leaves(now: number): void {
    this.#noticeUntil = now + GOAWAY_NOTICE_MS
  }

  get isLeaving(): boolean {
    return this.#noticeUntil !== Infinity
  }

  /** The client was told which stream was the last. */
  left(): void {
    this.#noticeUntil = Infinity
    this.#idleBy = Infinity
  }

  /** The client is at fault, and nothing more of it is read. */
  failed(): void {
    this.#headBy = Infinity
    this.#settledBy = Infinity
  }

  /** The connection was closed; what the client has to take before was awaited already. */
  closes(now: number): void {
    this.#goneBy = now + LINGER_MS
  }

  get isClosing(): boolean {
    return this.#goneBy !== Infinity
  }
}
