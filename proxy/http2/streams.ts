import type { Abuse } from './abuse.ts'
import type { Lane, Lanes } from './lanes.ts'
import type { Output } from './output.ts'
import { ConnectionFault, ERROR, FRAME } from './protocol.ts'
import type { StreamWire } from './stream-wire.ts'

/** Max concurrent requests of one connection; RFC 9113 6.5.2 recommends at least 100. */
export const MAX_STREAMS = 128
/**
 * Max bytes of the decoded heads of those requests: each is kept until its answer, and repeating fields by index costs a
 * client next to nothing. A hundred requests of a browser with large cookies stay below.
 */
export const MAX_HEADS_BYTES = 1024 * 1024
/** Max streams that we reset and still remember, since something of them may be under way (RFC 9113 5.1). */
const MAX_FORGOTTEN = 256

/** The connection of the streams. */
export interface StreamsHost {
  readonly output: Output
  readonly lanes: Lanes
  touch(): void
  release(stream: StreamWire, wasReset: boolean): void
}

/** The streams of one connection by number: the open ones, and what must be remembered of others. */
export class Streams {
  readonly #host: StreamsHost
  readonly #abuse: Abuse
  readonly #open = new Map<number, Lane>()
  /** Created on first use. */
  #forgotten: Set<number> | null = null
  /** The newest stream of the client, and the last one that is served. */
  #lastId = 0
  #lastServed = Infinity
  /** Bytes of the heads of open streams. */
  #headsBytes = 0

  constructor(host: StreamsHost, abuse: Abuse) {
    this.#host = host
    this.#abuse = abuse
  }

  /** Whether no stream is open. */
  get isEmpty(): boolean {
    return this.#open.size === 0
  }

  /** Returns the stream of this number if it is open. */
  open(id: number): StreamWire | undefined {
    return this.#open.get(id)?.wire
  }

  /** Returns the stream, or null if it has ended. Throws ConnectionFault if it has not begun. */
  find(id: number): StreamWire | null {
    const lane = this.#open.get(id)
    if (lane) return lane.wire
    const hasBegun = id !== 0 && (id <= this.#lastId || id > this.#lastServed)
    if (!hasBegun) throw new ConnectionFault(ERROR.protocol, 'a stream that has not begun')
    return null
  }

  /** Whether frames of a stream that has ended are ignored: we ended it, or the client could not know yet that we would. */
  ignores(id: number): boolean {
    return this.#forgotten?.has(id) || id > this.#lastServed
  }

  /** The client opens this stream. Throws ConnectionFault if it must not. */
  begin(id: number): void {
    if (id % 2 === 0) throw new ConnectionFault(ERROR.protocol, "a stream that is not a client's")
    if (id <= this.#lastId)
      throw new ConnectionFault(ERROR.streamClosed, 'HEADERS on a stream that has ended')
    this.#lastId = id
  }

  /**
   * Returns the wire for the newest stream, whose head has `headBytes`; null if there are too many: the stream is refused.
   */
  serve(id: number, headBytes: number): StreamWire | null {
    const fits = this.#open.size < MAX_STREAMS && this.#headsBytes + headBytes <= MAX_HEADS_BYTES
    const lane = fits ? this.#host.lanes.take() : null
    if (!lane) {
      this.refuse(id, ERROR.refusedStream)
      return null
    }
    lane.headBytes = headBytes
    this.#headsBytes += headBytes
    this.#open.set(id, lane)
    return lane.wire
  }

  /** Takes no more streams. Returns the last one. */
  close(): number {
    this.#lastServed = this.#lastId
    return this.#lastId
  }

  /** A stream has ended; after a reset by us, what was under way is ignored. */
  forget(id: number, wasReset: boolean): void {
    const lane = this.#open.get(id)
    if (!lane) return
    this.#open.delete(id)
    this.#headsBytes -= lane.headBytes
    this.#host.lanes.leave(lane)
    if (wasReset) this.#ignore(id)
  }

  #ignore(id: number): void {
    const forgotten = (this.#forgotten ??= new Set())
    forgotten.add(id)
    if (forgotten.size <= MAX_FORGOTTEN) return
    for (const oldest of forgotten) return void forgotten.delete(oldest)
  }

  /** Ends a stream because of a fault of the client. Throws ConnectionFault if there were too many. */
  reset(stream: StreamWire, code: number): void {
    this.#host.output.numberFrame(FRAME.reset, stream.id, code)
    this.#host.release(stream, true)
    this.#abuse.reset()
  }

  /** Refuses a stream that nobody serves. Throws ConnectionFault if there were too many. */
  refuse(id: number, code: number): void {
    this.#host.output.numberFrame(FRAME.reset, id, code)
    this.#host.touch()
    this.#ignore(id)
    this.#abuse.reset()
  }
}
