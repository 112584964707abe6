import type { Abuse } from './abuse.ts'
import type { Lane, Lanes } from './lanes.ts'
import type { Output } from './output.ts'
import { ConnectionFault, ERROR, FRAME } from './protocol.ts'
import type { StreamWire } from './stream-wire.ts'

/** Requests at a time of one connection; browsers are told that 100 or more is usual (RFC 9113 6.5.2). */
export const MAX_STREAMS = 128
/**
 * Bytes of the decoded heads of those requests: each is kept until its answer, and a client that repeats fields by their index
 * sends next to nothing for them. A hundred requests of a browser with large cookies stay below.
 */
export const MAX_HEADS_BYTES = 1024 * 1024
/** Streams that we reset, of which something may still be on its way (RFC 9113 5.1). */
const MAX_FORGOTTEN = 256

/** The connection of streams. */
export interface StreamsHost {
  readonly output: Output
  readonly lanes: Lanes
  touch(): void
  release(stream: StreamWire, wasReset: boolean): void
}

/** The streams of one connection by number: those that are open, and what is known of those that were. */
export class Streams {
  readonly #host: StreamsHost
  readonly #abuse: Abuse
  readonly #open = new Map<number, Lane>()
  /** Made for the first. */
  #forgotten: Set<number> | null = null
  /** The newest stream of the client's, and the last that is served. */
  #lastId = 0
  #lastServed = Infinity
  /** Bytes of the heads of open streams. */
  #headsBytes = 0

  constructor(host: StreamsHost, abuse: Abuse) {
    this.#host = host
    this.#abuse = abuse
  }

  /** None is open. */
  get isEmpty(): boolean {
    return this.#open.size === 0
  }

  /** The stream of this number while it is open. */
  open(id: number): StreamWire | undefined {
    return this.#open.get(id)?.wire
  }

  /** The stream, or null when it has ended. Throws ConnectionFault when it has not begun. */
  find(id: number): StreamWire | null {
    const lane = this.#open.get(id)
    if (lane) return lane.wire
    const hasBegun = id !== 0 && (id <= this.#lastId || id > this.#lastServed)
    if (!hasBegun) throw new ConnectionFault(ERROR.protocol, 'a stream that has not begun')
    return null
  }

  /** What comes of a stream that has ended is ignored: we ended it, or the client did not know yet that we would. */
  ignores(id: number): boolean {
    return this.#forgotten?.has(id) || id > this.#lastServed
  }

  /** The client opens this stream. Throws ConnectionFault where it may not. */
  begin(id: number): void {
    if (id % 2 === 0) throw new ConnectionFault(ERROR.protocol, "a stream that is not a client's")
    if (id <= this.#lastId)
      throw new ConnectionFault(ERROR.streamClosed, 'HEADERS of a stream that has ended')
    this.#lastId = id
  }

  /** What serves the newest stream, whose head has `headBytes`; null when there are too many: the stream is refused. */
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

  /** Takes no more streams. Answers the last. */
  close(): number {
    this.#lastServed = this.#lastId
    return this.#lastId
  }

  /** A stream has ended; after a reset of ours what was on its way is ignored. */
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

  /** Ends a stream for a fault of the client. Throws ConnectionFault when that is one too many. */
  reset(stream: StreamWire, code: number): void {
    this.#host.output.numberFrame(FRAME.reset, stream.id, code)
    this.#host.release(stream, true)
    this.#abuse.reset()
  }

  /** Ends a stream that nobody serves. Throws ConnectionFault when that is one too many. */
  refuse(id: number, code: number): void {
    this.#host.output.numberFrame(FRAME.reset, id, code)
    this.#host.touch()
    this.#ignore(id)
    this.#abuse.reset()
  }
}
