import { monotonicMs } from '../clock.ts'
import { HEAD_TIMEOUT_MS, IDLE_TIMEOUT_MS, LINGER_MS, READER_TIMEOUT_MS } from '../relay/waits.ts'

/** How long a client that announced its end has for what is under way. */
const CLIENT_LEAVING_MS = 10 * 60_000
/** By then, streams opened before the client got our GOAWAY have arrived (RFC 9113 6.8). */
const GOAWAY_NOTICE_MS = 1_000
const SETTINGS_ACK_TIMEOUT_MS = 30_000

/** What to do when a deadline has passed. */
export const DUE = {
  nothing: 0,
  /** End the connection at once. */
  end: 1,
  /** Fail: a head has not arrived. */
  head: 2,
  /** Fail: our settings were not acknowledged. */
  settings: 3,
  /** Tell the client that no further stream is served. */
  leave: 4,
} as const

/** The deadlines of one connection, in monotonic milliseconds; Infinity for none. */
export class Deadlines {
  #idleBy: number
  #headBy: number
  #settledBy: number
  #noticeUntil = Infinity
  #clientGoneBy = Infinity
  #drainedBy = Infinity
  #goneBy = Infinity

  constructor(now: number) {
    this.#idleBy = now + IDLE_TIMEOUT_MS
    this.#headBy = now + HEAD_TIMEOUT_MS
    this.#settledBy = now + SETTINGS_ACK_TIMEOUT_MS
  }

  /** Returns what to do now, one of `DUE`. */
  due(now: number, isReading: boolean, isPending: boolean): number {
    if (now > this.#clientGoneBy || now > this.#drainedBy) return DUE.end
    // Data in TLS is pending only for a moment; data that the client does not read may be pending for as long as allowed.
    if (now > this.#goneBy && !isPending) return DUE.end
    // While we do not read, a head that the last read cut off cannot be completed.
    if (now > this.#headBy && isReading) return DUE.head
    if (now > this.#settledBy) return DUE.settings
    return now > this.#noticeUntil || now > this.#idleBy ? DUE.leave : DUE.nothing
  }

  /** Something was read; it may have ended within a head. */
  read(isWithinHead: boolean, now: number): void {
    if (!isWithinHead) this.#headBy = Infinity
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

  /** No request is under way. */
  idle(now: number): void {
    if (this.#idleBy === Infinity) this.#idleBy = now + IDLE_TIMEOUT_MS
  }

  /** The client will not open any more streams. */
  clientLeaves(now: number): void {
    this.#clientGoneBy = Math.min(this.#clientGoneBy, now + CLIENT_LEAVING_MS)
  }

  /** The client was asked to open no more streams. */
  leaves(now: number): void {
    this.#noticeUntil = now + GOAWAY_NOTICE_MS
  }

  get isLeaving(): boolean {
    return this.#noticeUntil !== Infinity
  }

  /** The client was told which stream is the last. */
  left(): void {
    this.#noticeUntil = Infinity
    this.#idleBy = Infinity
  }

  /** The client is at fault and is not read any more. */
  failed(): void {
    this.#headBy = Infinity
    this.#settledBy = Infinity
  }

  /** The connection was closed; the deadline for what the client must still take is already set. */
  closes(now: number): void {
    this.#goneBy = now + LINGER_MS
  }

  get isClosing(): boolean {
    return this.#goneBy !== Infinity
  }
}
