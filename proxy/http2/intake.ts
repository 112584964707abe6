import { latin1 } from '../http1/bytes.ts'
import { MAX_HEAD_BYTES } from '../http1/head.ts'
import { Abuse } from './abuse.ts'
import { HeaderDecoder } from './decoder.ts'
import type { FrameHandler } from './frame-reader.ts'
import { HeaderBlocks, dependencyIn, type HeaderBlock } from './header-blocks.ts'
import type { Lane, Lanes } from './lanes.ts'
import type { Output } from './output.ts'
import { readPriority } from './priority.ts'
import { ConnectionFault, ERROR, FLAG, FRAME, MAX_WINDOW_BYTES } from './protocol.ts'
import { RequestFields } from './request-fields.ts'
import { readSettings, type PeerSettings } from './settings.ts'
import type { StreamWire } from './stream-wire.ts'

/** Requests at a time of one connection; browsers are told that 100 or more is usual (RFC 9113 6.5.2). */
export const MAX_STREAMS = 128
/** Streams that we reset, of which something may still be on its way (RFC 9113 5.1). */
const MAX_FORGOTTEN = 256
/** A client that takes so little more at a time, or sends so little that nobody wants, makes us work for nothing. */
const TINY_BYTES = 256
/** A list of fields has 32 bytes for each that a head has not. */
const HEAD_BYTES = MAX_HEAD_BYTES + 8 * 1024

/** One at a time, and read at once. */
const fields = new RequestFields()
let head: Buffer | null = null

/** The connection of an intake. */
export interface IntakeHost {
  readonly output: Output
  readonly lanes: Lanes
  /** What a new stream may be sent. */
  readonly streamWindow: number
  touch(): void
  took(bytes: number): void
  widen(bytes: number): void
  apply(settings: PeerSettings): void
  settled(): void
  clientLeaves(): void
  release(stream: StreamWire, wasReset: boolean): void
  reorder(stream: StreamWire, change: () => void): void
}

/** Deals with the frames that come over a connection: what they mean, and what is wrong with them (RFC 9113 5, 6). */
export class Intake implements FrameHandler {
  readonly #host: IntakeHost
  readonly #decoder = new HeaderDecoder()
  readonly #blocks = new HeaderBlocks()
  readonly #abuse = new Abuse()
  readonly #streams = new Map<number, Lane>()
  readonly #forgotten = new Set<number>()
  /** The newest stream of the client's, and the last that is served. */
  #lastId = 0
  #lastServed = Infinity
  /** Bytes of DATA that the client may send. */
  #window: number
  #hasSettings = false
  /** The stream of the DATA that comes, null where nobody wants it; and how much of it has come. */
  #data: StreamWire | null = null
  #dataBytes = 0

  constructor(host: IntakeHost, window: number) {
    this.#host = host
    this.#window = window
  }

  /** A header block has begun and is not whole. */
  get isAmidHead(): boolean {
    return this.#blocks.openId !== 0
  }

  /** The client may send so much more. */
  widen(bytes: number): void {
    this.#window += bytes
  }

  /** Takes no more streams. Answers the last. */
  close(): number {
    this.#lastServed = this.#lastId
    return this.#lastId
  }

  /** A stream has ended; after a reset of ours what was on its way is ignored. */
  forget(id: number, wasReset: boolean): void {
    const lane = this.#streams.get(id)
    if (!lane) return
    this.#streams.delete(id)
    this.#host.lanes.leave(lane)
    if (wasReset) this.#ignore(id)
  }

  #ignore(id: number): void {
    this.#forgotten.add(id)
    if (this.#forgotten.size <= MAX_FORGOTTEN) return
    for (const oldest of this.#forgotten) return void this.#forgotten.delete(oldest)
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
        check(id === 0, ERROR.protocol, 'GOAWAY of a stream')
        check(end - start >= 8, ERROR.frameSize, 'GOAWAY that was cut')
        return this.#host.clientLeaves()
      case FRAME.priority:
        return this.#onPriority(id, bytes, start, end)
      case FRAME.priorityUpdate:
        return this.#onPriorityUpdate(id, bytes, start, end)
      case FRAME.pushPromise:
        throw new ConnectionFault(ERROR.protocol, 'clients do not push')
      default:
        this.#abuse.idleFrame()
    }
  }

  /** SETTINGS come first (RFC 9113 3.4), and nothing amid a header block (6.10). */
  #checkOrder(type: number, id: number): void {
    check(this.#hasSettings || type === FRAME.settings, ERROR.protocol, 'no SETTINGS')
    const { openId } = this.#blocks
    const fits = openId === 0 ? type !== FRAME.continuation : type === FRAME.continuation && id === openId
    check(fits, ERROR.protocol, 'a frame amid a header block, or one of none')
  }

  #onHeaders(flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    check(id !== 0, ERROR.protocol, 'HEADERS of no stream')
    const block = this.#blocks.begin(id, flags, bytes, start, end)
    if (block) this.#onBlock(block)
  }

  #onContinuation(flags: number, _id: number, bytes: Buffer, start: number, end: number): void {
    const block = this.#blocks.goOn(flags, bytes, start, end)
    if (block) this.#onBlock(block)
  }

  #onBlock(block: HeaderBlock): void {
    const { id, bytes, start, end } = block
    // Every block is read, as it may change the table.
    fields.begin()
    this.#decoder.decode(bytes, start, end, fields.take)
    const lane = this.#streams.get(id)
    if (lane) return this.#onTrailers(lane.wire, block.endStream)
    if (this.#forgotten.has(id) || id > this.#lastServed) return this.#abuse.idleFrame()
    check(id % 2 === 1, ERROR.protocol, "a stream that is not a client's")
    check(id > this.#lastId, ERROR.streamClosed, 'HEADERS of a stream that has ended')
    this.#lastId = id
    this.#onRequest(block)
  }

  #onRequest({ id, endStream, isSelfDependent }: HeaderBlock): void {
    const request = fields.head(!endStream)
    if (!request || isSelfDependent) return this.#refuse(id, ERROR.protocol)
    const lane = this.#streams.size < MAX_STREAMS ? this.#host.lanes.take() : null
    if (!lane) return this.#refuse(id, ERROR.refusedStream)
    this.#streams.set(id, lane)
    lane.wire.begin(id, this.#host.streamWindow, request, endStream)
    head ??= Buffer.allocUnsafeSlow(HEAD_BYTES)
    lane.wire.receive(head, head.write(request.text, 'latin1'))
  }

  #onTrailers(stream: StreamWire, endStream: boolean): void {
    if (stream.body.ended) return this.#reset(stream, ERROR.streamClosed)
    const lines = endStream ? fields.trailers() : null
    if (lines === null || !stream.endBody(lines)) this.#reset(stream, ERROR.protocol)
  }

  #onSettings(flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    check(id === 0, ERROR.protocol, 'SETTINGS of a stream')
    if ((flags & FLAG.ack) !== 0) {
      check(start === end && this.#hasSettings, ERROR.frameSize, 'an acknowledgement with content')
      return this.#host.settled()
    }
    if (this.#hasSettings) this.#abuse.idleFrame()
    this.#hasSettings = true
    this.#host.apply(readSettings(bytes, start, end))
  }

  #onWindowUpdate(id: number, bytes: Buffer, start: number, end: number): void {
    check(end - start === 4, ERROR.frameSize, 'WINDOW_UPDATE of a length that none has')
    const more = bytes.readUInt32BE(start) & 0x7fffffff
    if (more < TINY_BYTES) this.#abuse.idleFrame()
    if (id === 0) {
      check(more > 0, ERROR.protocol, 'WINDOW_UPDATE by nothing')
      this.#host.widen(more)
      return this.#host.touch()
    }
    const stream = this.#stream(id)
    if (!stream) return
    if (more === 0) return this.#reset(stream, ERROR.protocol)
    stream.widen(more)
    if (stream.window > MAX_WINDOW_BYTES) this.#reset(stream, ERROR.flowControl)
  }

  #onReset(id: number, length: number): void {
    check(length === 4, ERROR.frameSize, 'RST_STREAM of a length that none has')
    const stream = this.#stream(id)
    this.#abuse.reset()
    if (stream) this.#host.release(stream, false)
  }

  #onPing(flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    check(id === 0, ERROR.protocol, 'PING of a stream')
    check(end - start === 8, ERROR.frameSize, 'PING of a length that none has')
    this.#abuse.idleFrame()
    if ((flags & FLAG.ack) !== 0) return
    this.#host.output.frame(FRAME.ping, FLAG.ack, 0, bytes, start, end)
    this.#host.touch()
  }

  /** Priorities of RFC 7540 mean nothing any more (RFC 9113 5.3.2). */
  #onPriority(id: number, bytes: Buffer, start: number, end: number): void {
    check(id !== 0, ERROR.protocol, 'PRIORITY of no stream')
    this.#abuse.idleFrame()
    const stream = this.#streams.get(id)?.wire
    const wrong = end - start !== 5 ? ERROR.frameSize : dependencyIn(bytes, start) === id ? ERROR.protocol : 0
    if (wrong === 0) return
    if (!stream) throw new ConnectionFault(wrong, 'PRIORITY of a length that none has, or on itself')
    this.#reset(stream, wrong)
  }

  /** RFC 9218 7.1. */
  #onPriorityUpdate(id: number, bytes: Buffer, start: number, end: number): void {
    check(id === 0, ERROR.protocol, 'PRIORITY_UPDATE of a stream')
    check(end - start >= 4, ERROR.frameSize, 'PRIORITY_UPDATE that was cut')
    this.#abuse.idleFrame()
    const named = bytes.readUInt32BE(start) & 0x7fffffff
    check(named !== 0, ERROR.protocol, 'PRIORITY_UPDATE of no stream')
    const stream = this.#streams.get(named)?.wire
    if (!stream) return
    const priority = readPriority(latin1(bytes, start + 4, end))
    this.#host.reorder(stream, () => (stream.priority = priority))
  }

  // --- bodies

  onDataBegin(id: number, length: number): void {
    this.#checkOrder(FRAME.data, id)
    this.#dataBytes = 0
    this.#window -= length
    check(this.#window >= 0, ERROR.flowControl, 'more DATA than the connection takes')
    this.#data = this.#wanting(id, length)
    if (this.#data) return
    this.#host.took(length)
    if (length < TINY_BYTES) this.#abuse.idleFrame()
  }

  /** The stream that a frame of DATA is for; null where nobody wants it. */
  #wanting(id: number, length: number): StreamWire | null {
    const stream = this.#stream(id)
    if (!stream) {
      if (!this.#forgotten.has(id) && id <= this.#lastServed) this.#refuse(id, ERROR.streamClosed)
      return null
    }
    if (!stream.body.ended && stream.body.admit(length)) return stream
    this.#reset(stream, stream.body.ended ? ERROR.streamClosed : ERROR.flowControl)
    return null
  }

  onData(_id: number, bytes: Buffer, start: number, end: number): void {
    this.#dataBytes += end - start
    if (!this.#data) return
    if (!this.#data.isOpen) this.#host.took(end - start)
    else if (!this.#data.body.take(bytes, start, end)) this.#reset(this.#data, ERROR.protocol)
  }

  onDataEnd(_id: number, flags: number, padding: number): void {
    const stream = this.#data
    this.#data = null
    const ends = (flags & FLAG.endStream) !== 0
    if (this.#dataBytes === 0 && !ends) this.#abuse.idleFrame()
    if (!stream) return
    if (!stream.isOpen) return this.#host.took(padding)
    if (padding > 0) stream.body.skip(padding)
    if (ends && stream.isOpen && !stream.endBody('')) this.#reset(stream, ERROR.protocol)
  }

  // --- streams

  /** The stream, or null when it has ended. Throws ConnectionFault when it has not begun. */
  #stream(id: number): StreamWire | null {
    const lane = this.#streams.get(id)
    if (lane) return lane.wire
    check(
      id !== 0 && (id <= this.#lastId || id > this.#lastServed),
      ERROR.protocol,
      'a stream that has not begun',
    )
    return null
  }

  /** Ends a stream for a fault of the client. */
  #reset(stream: StreamWire, code: number): void {
    this.#host.output.numberFrame(FRAME.reset, stream.id, code)
    this.#host.release(stream, true)
    this.#abuse.reset()
  }

  /** Ends a stream that nobody serves. */
  #refuse(id: number, code: number): void {
    this.#host.output.numberFrame(FRAME.reset, id, code)
    this.#host.touch()
    this.#ignore(id)
    this.#abuse.reset()
  }
}

function check(isRight: boolean, code: number, message: string): void {
  if (!isRight) throw new ConnectionFault(code, message)
}
