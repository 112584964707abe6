import { latin1 } from '../http1/bytes.ts'
import { Abuse } from './abuse.ts'
import { HeaderDecoder } from './decoder.ts'
import type { FrameHandler } from './frame-reader.ts'
import { HeaderBlocks, dependencyIn, type HeaderBlock } from './header-blocks.ts'
import { IncomingData, type DataHost } from './incoming-data.ts'
import { readPriority } from './priority.ts'
import { ConnectionFault, ERROR, FLAG, FRAME, MAX_WINDOW_BYTES } from './protocol.ts'
import { RequestHeads } from './request-heads.ts'
import { readSettings, type PeerSettings } from './settings.ts'
import type { StreamWire } from './stream-wire.ts'
import { Streams, type StreamsHost } from './streams.ts'

/** A client that widens its window in such small steps keeps us busy for nothing. */
const TINY_BYTES = 256

/** The connection of an intake. */
export interface IntakeHost extends StreamsHost, DataHost {
  /** How much a new stream may be sent. */
  readonly streamWindow: number
  widen(bytes: number): void
  apply(settings: PeerSettings): void
  settled(): void
  clientLeaves(): void
  reorder(stream: StreamWire, change: () => void): void
}

/** Handles the frames of a connection: carries them out and checks them (RFC 9113 5, 6). */
export class Intake implements FrameHandler {
  readonly #host: IntakeHost
  readonly #decoder = new HeaderDecoder()
  readonly #blocks = new HeaderBlocks()
  readonly #heads = new RequestHeads()
  readonly #abuse = new Abuse()
  readonly #streams: Streams
  readonly #data: IncomingData
  #hasSettings = false

  constructor(host: IntakeHost, window: number) {
    this.#host = host
    this.#streams = new Streams(host, this.#abuse)
    this.#data = new IncomingData(host, this.#streams, this.#abuse, window)
  }

  /** Whether a header block has begun and is not complete. */
  get isWithinHead(): boolean {
    return this.#blocks.openId !== 0
  }

  /** Whether no stream is open. */
  get isIdle(): boolean {
    return this.#streams.isEmpty
  }

  /** Forgets earlier requests: there were none lately. */
  rest(): void {
    this.#heads.forget()
  }

  /** Lets the client send more. */
  widen(bytes: number): void {
    this.#data.widen(bytes)
  }

  /** Passes what has arrived of bodies to the readers. */
  giveBodies(): void {
    this.#data.give()
  }

  /** Takes no more streams. Returns the last one. */
  close(): number {
    return this.#streams.close()
  }

  /** A stream has ended; after a reset by us, what was under way is ignored. */
  forget(id: number, wasReset: boolean): void {
    this.#streams.forget(id, wasReset)
  }

  // --- frames

  onFrame(type: number, flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    this.#checkOrder(type, id)
    switch (type) {
      case FRAME.headers:
        return this.#onHeaders(flags, id, bytes, start, end)
      case FRAME.continuation:
        return this.#onContinuation(flags, id, bytes, start, end)
      case FRAME.settings:
        return this.#onSettings(flags, id, bytes, start, end)
      case FRAME.windowUpdate:
        return this.#onWindowUpdate(id, bytes, start, end)
      case FRAME.reset:
        return this.#onReset(id, end - start)
      case FRAME.ping:
        return this.#onPing(flags, id, bytes, start, end)
      case FRAME.goAway:
        check(id === 0, ERROR.protocol, 'GOAWAY on a stream')
        check(end - start >= 8, ERROR.frameSize, 'truncated GOAWAY')
        this.#abuse.idleFrame()
        return this.#host.clientLeaves()
      case FRAME.priority:
        return this.#onPriority(id, bytes, start, end)
      case FRAME.priorityUpdate:
        return this.#onPriorityUpdate(id, bytes, start, end)
      case FRAME.pushPromise:
        throw new ConnectionFault(ERROR.protocol, 'clients must not push')
      default:
        this.#abuse.idleFrame()
    }
  }

  /** SETTINGS must come first (RFC 9113 3.4), and nothing may come within a header block (6.10). */
  #checkOrder(type: number, id: number): void {
    check(this.#hasSettings || type === FRAME.settings, ERROR.protocol, 'no SETTINGS')
    const { openId } = this.#blocks
    const fits = openId === 0 ? type !== FRAME.continuation : type === FRAME.continuation && id === openId
    check(fits, ERROR.protocol, 'a frame within a header block, or CONTINUATION without one')
  }

  #onHeaders(flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    check(id !== 0, ERROR.protocol, 'HEADERS without a stream')
    const block = this.#blocks.begin(id, flags, bytes, start, end)
    if (block) this.#onBlock(block)
  }

  #onContinuation(flags: number, _id: number, bytes: Buffer, start: number, end: number): void {
    const block = this.#blocks.continueBlock(flags, bytes, start, end)
    if (block) this.#onBlock(block)
  }

  #onBlock(block: HeaderBlock): void {
    const { id, bytes, start, end } = block
    // Every block is decoded, even an unwanted one, because it may change the table.
    this.#heads.begin()
    this.#decoder.decode(bytes, start, end, this.#heads.take)
    const stream = this.#streams.open(id)
    if (stream) return this.#onTrailers(stream, block.endStream)
    if (this.#streams.ignores(id)) return this.#abuse.idleFrame()
    this.#streams.begin(id)
    this.#onRequest(block)
  }

  #onRequest({ id, endStream, isSelfDependent }: HeaderBlock): void {
    const request = this.#heads.make(!endStream)
    if (!request || isSelfDependent) return this.#streams.refuse(id, ERROR.protocol)
    const stream = this.#streams.serve(id, this.#heads.length)
    if (!stream) return
    stream.begin(id, this.#host.streamWindow, request, endStream)
    stream.receive(this.#heads.bytes, this.#heads.length)
  }

  #onTrailers(stream: StreamWire, endStream: boolean): void {
    if (stream.body.ended) return this.#streams.reset(stream, ERROR.streamClosed)
    // Only DATA may come over a tunnel (RFC 9113 8.5).
    const lines = endStream && !stream.body.isTunnel ? this.#heads.trailers() : null
    if (lines === null || !stream.endBody(lines)) this.#streams.reset(stream, ERROR.protocol)
  }

  #onSettings(flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    check(id === 0, ERROR.protocol, 'SETTINGS on a stream')
    if ((flags & FLAG.ack) !== 0) {
      check(start === end && this.#hasSettings, ERROR.frameSize, 'an acknowledgement with content')
      this.#abuse.idleFrame()
      return this.#host.settled()
    }
    if (this.#hasSettings) this.#abuse.idleFrame()
    this.#hasSettings = true
    this.#host.apply(readSettings(bytes, start, end))
  }

  #onWindowUpdate(id: number, bytes: Buffer, start: number, end: number): void {
    check(end - start === 4, ERROR.frameSize, 'WINDOW_UPDATE of invalid length')
    const more = bytes.readUInt32BE(start) & 0x7fffffff
    if (more < TINY_BYTES) this.#abuse.idleFrame()
    if (id === 0) {
      check(more > 0, ERROR.protocol, 'WINDOW_UPDATE of 0')
      this.#host.widen(more)
      return this.#host.touch()
    }
    const stream = this.#streams.find(id)
    if (!stream) return
    if (more === 0) return this.#streams.reset(stream, ERROR.protocol)
    stream.widen(more)
    if (stream.window > MAX_WINDOW_BYTES) this.#streams.reset(stream, ERROR.flowControl)
  }

  #onReset(id: number, length: number): void {
    check(length === 4, ERROR.frameSize, 'RST_STREAM of invalid length')
    const stream = this.#streams.find(id)
    this.#abuse.reset()
    if (!stream) return
    // What was sent through a tunnel before this is still meant for the other end.
    stream.body.resume()
    this.#host.release(stream, false)
  }

  #onPing(flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    check(id === 0, ERROR.protocol, 'PING on a stream')
    check(end - start === 8, ERROR.frameSize, 'PING of invalid length')
    this.#abuse.idleFrame()
    if ((flags & FLAG.ack) !== 0) return
    this.#host.output.frame(FRAME.ping, FLAG.ack, 0, bytes, start, end)
    this.#host.touch()
  }

  /** Priorities of RFC 7540 have no meaning any more (RFC 9113 5.3.2). */
  #onPriority(id: number, bytes: Buffer, start: number, end: number): void {
    check(id !== 0, ERROR.protocol, 'PRIORITY without a stream')
    this.#abuse.idleFrame()
    const stream = this.#streams.open(id)
    const wrong = end - start !== 5 ? ERROR.frameSize : dependencyIn(bytes, start) === id ? ERROR.protocol : 0
    if (wrong === 0) return
    if (!stream) throw new ConnectionFault(wrong, 'PRIORITY of invalid length, or of a stream on itself')
    this.#streams.reset(stream, wrong)
  }

  /** RFC 9218 7.1. */
  #onPriorityUpdate(id: number, bytes: Buffer, start: number, end: number): void {
    check(id === 0, ERROR.protocol, 'PRIORITY_UPDATE on a stream')
    check(end - start >= 4, ERROR.frameSize, 'truncated PRIORITY_UPDATE')
    this.#abuse.idleFrame()
    const named = bytes.readUInt32BE(start) & 0x7fffffff
    check(named !== 0, ERROR.protocol, 'PRIORITY_UPDATE without a stream')
    const stream = this.#streams.open(named)
    if (!stream) return
    const priority = readPriority(latin1(bytes, start + 4, end))
    this.#host.reorder(stream, () => (stream.priority = priority))
  }

  // --- bodies

  onDataBegin(id: number, length: number): void {
    this.#checkOrder(FRAME.data, id)
    this.#data.begin(id, length)
  }

  onData(_id: number, bytes: Buffer, start: number, end: number): void {
    this.#data.take(bytes, start, end)
  }

  onDataEnd(_id: number, flags: number, padding: number): void {
    this.#data.end(flags, padding)
  }
}

function check(isRight: boolean, code: number, message: string): void {
  if (!isRight) throw new ConnectionFault(code, message)
}
