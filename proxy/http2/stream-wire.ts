import { NO_TRAILERS } from '../http1/body.ts'
import { latin1 } from '../http1/bytes.ts'
import { READER_TIMEOUT_MS } from '../relay/waits.ts'
import { slab } from '../wire/slab.ts'
import { Wire } from '../wire/wire.ts'
import { encoded, type HeaderEncoder } from './encoder.ts'
import { IncomingBody, type BodyReader } from './incoming-body.ts'
import type { Output } from './output.ts'
import { NO_PRIORITY, type Priority } from './priority.ts'
import { ERROR, FLAG, FRAME } from './protocol.ts'
import type { RequestHead } from './request-fields.ts'
import { CONNECTION_BLOCKED, MORE, SENT, STREAM_BLOCKED, type Sender, type SendResult } from './scheduler.ts'

/** Interim answers of one request; nothing holds back who sends more. */
const MAX_INTERIMS = 32
const SWITCHING_PROTOCOLS = '101'
const RESET_CONTENT = '205'
const BAD_GATEWAY = '502'
/** Its length would be that of a body which is not sent. */
const NO_LENGTH = ['content-length']
/** What answers an upgrade is told otherwise (RFC 8441 5). */
const UPGRADE_FIELDS = ['sec-websocket-accept']
const NOTHING: readonly string[] = []
const EMPTY = Buffer.alloc(0)

/** The connection of a stream. */
export interface StreamHost {
  readonly output: Output
  readonly encoder: HeaderEncoder
  /** Bytes of DATA that the client takes, of all streams. */
  window: number
  /** Monotonic milliseconds at which the client last took something of any stream. */
  progressAt: number
  /** Something was put into the output. */
  touch(): void
  /** The stream has more to send than it may. */
  wait(stream: StreamWire): void
  /** So many bytes of DATA were read: the client may send as many more. */
  took(bytes: number): void
  /** The stream has ended; by a reset of ours, after which something of it may still come. */
  release(stream: StreamWire, wasReset: boolean): void
}

/**
 * Streams of one HTTP/2 connection, one after another, as the relay sees a connection: what the relay writes is an
 * HTTP/1.1 head and, without chunks, the body; they go out as frames.
 */
export class StreamWire extends Wire implements Sender, BodyReader {
  override readonly frames = true
  readonly body = new IncomingBody(this)
  id = 0
  priority: Priority = NO_PRIORITY
  /** Bytes of DATA that the client takes. */
  window = 0
  readonly #host: StreamHost
  #open = false
  #interims = 0
  #headSent = false
  /** The stream is to become a tunnel; nothing of it is read before. */
  #awaitsTunnel = false
  /** Nothing that follows the head is sent. */
  #bodyless = false
  #complete = false
  #localEnded = false
  /** What the client still sends is not wanted. */
  #unwanted = false
  #trailers: readonly string[] = NO_TRAILERS
  /** What the client cannot take yet, and where its first piece goes on. */
  #waiting: Buffer[] = []
  #waitingAt = 0
  /** Monotonic milliseconds since when something waits. */
  #waitingSince = 0
  /** The last frame, which gets END_STREAM when it turns out to be that and has not gone. */
  #frameAt = 0
  #frameTurn = -1

  constructor(host: StreamHost) {
    super()
    this.#host = host
  }

  /** Serves a stream; the one before has ended. */
  begin(id: number, window: number, { body, length, priority }: RequestHead, ended: boolean): void {
    this.id = id
    this.window = window
    this.priority = priority ?? NO_PRIORITY
    this.#open = true
    this.#interims = 0
    this.#headSent = false
    this.#bodyless = false
    this.#complete = false
    this.#localEnded = false
    this.#unwanted = false
    this.#trailers = NO_TRAILERS
    this.#frameTurn = -1
    this.body.begin(body, length, ended)
    this.#awaitsTunnel = this.body.isTunnel
    if (this.#awaitsTunnel) this.pause()
  }

  /** It serves a stream. */
  get isOpen(): boolean {
    return this.#open
  }

  // --- what goes out

  override get pending(): boolean {
    return this.#waiting.length > 0
  }

  override writeSlab(end: number): boolean {
    return this.#send(slab.buffer, slab.at, end, true)
  }

  override write(bytes: Buffer, start: number, end: number): boolean {
    return this.#send(bytes, start, end, false)
  }

  override relay(input: Buffer, start: number, end: number, from: Wire | null): void {
    if (start < end && !this.#send(input, start, end, true) && from) this.holdBack(from)
  }

  /** Sends what may be sent, and keeps the rest: a copy of it when the bytes are `transient`. */
  #send(bytes: Buffer, start: number, end: number, transient: boolean): boolean {
    if (!this.#open || this.#complete) return true
    let at = this.#headSent ? start : this.#sendHeads(bytes, start, end)
    if (at >= end || this.#bodyless) return !this.pending
    if (!this.pending) at = this.#sendNow(bytes, at, end)
    if (at < end) {
      if (!this.pending) this.#waitingSince = performance.now()
      const rest = bytes.subarray(at, end)
      this.#waiting.push(transient ? Buffer.from(rest) : rest)
      this.#host.wait(this)
    }
    return !this.pending
  }

  /** Sends frames of DATA, with `once` one of them. Answers the index of what could not be sent. */
  #sendNow(bytes: Buffer, at: number, end: number, once = false): number {
    const { output } = this.#host
    while (at < end) {
      const allowed = Math.min(end - at, this.window, this.#host.window)
      const length = allowed > 0 ? output.room(allowed) : 0
      if (length <= 0) break
      this.#frameAt = output.data(this.id, 0, bytes, at, at + length)
      this.#frameTurn = output.turn
      this.window -= length
      this.#host.window -= length
      at += length
      this.#host.touch()
      if (once) break
    }
    return at
  }

  sendWaiting(once: boolean): SendResult {
    for (let piece = this.#waiting[0]; piece; piece = this.#waiting[0]) {
      const at = this.#sendNow(piece, this.#waitingAt, piece.length, once)
      // Whoever sends nothing must not be asked again, however that comes about.
      if (at === this.#waitingAt) return this.window <= 0 ? STREAM_BLOCKED : CONNECTION_BLOCKED
      this.#host.progressAt = performance.now()
      this.#waitingAt = at
      if (at < piece.length) {
        if (once) return MORE
        continue
      }
      this.#waitingAt = 0
      this.#waiting.shift()
      if (once) break
    }
    return this.pending ? MORE : SENT
  }

  sent(): void {
    if (this.#complete && !this.#localEnded) this.#sendEnd()
    this.drained()
  }

  /** The client takes so much more of the stream. */
  widen(bytes: number): void {
    this.window += bytes
    if (this.pending) this.#host.wait(this)
  }

  /** Sends the heads, of which all but the last are interim answers. Answers the index of the body. */
  #sendHeads(bytes: Buffer, start: number, end: number): number {
    while (start < end && !this.#headSent && this.#open) {
      const headEnd = bytes.indexOf('\r\n\r\n', start, 'latin1')
      if (headEnd < 0 || headEnd >= end) throw new Error('the head of an answer is written in one piece')
      this.#sendHead(bytes, start, headEnd)
      start = headEnd + 4
    }
    return start
  }

  #sendHead(bytes: Buffer, start: number, end: number): void {
    // After `HTTP/1.1 `.
    let status = latin1(bytes, start + 9, start + 12)
    let without = NOTHING
    if (this.#awaitsTunnel && status === SWITCHING_PROTOCOLS) {
      this.#awaitsTunnel = false
      status = '200'
      without = UPGRADE_FIELDS
    }
    this.#bodyless = status === RESET_CONTENT
    if (this.#bodyless) without = NO_LENGTH
    this.#headSent = status >= '200'
    if (this.#awaitsTunnel && this.#headSent) {
      this.#refuseTunnel()
      // To the client that would be a tunnel (RFC 8441 5), and what follows its frames.
      if (status < '300') {
        status = BAD_GATEWAY
        this.#bodyless = true
        without = NO_LENGTH
      }
    }
    // A hint that is not passed on is missed by nobody.
    if (!this.#headSent && (++this.#interims > MAX_INTERIMS || this.#host.output.isBlocked)) return
    const length = this.#host.encoder.head(bytes, start, end, status, without)
    this.#putBlock(0, length)
  }

  /** The answer is one of any other request, and of what the client would have sent nothing is wanted. */
  #refuseTunnel(): void {
    this.#awaitsTunnel = false
    this.#unwanted = true
    this.body.refuse()
  }

  #putBlock(flags: number, length: number): void {
    const { output } = this.#host
    this.#frameAt = output.headers(this.id, flags, encoded, length)
    this.#frameTurn = this.#frameAt < 0 ? -1 : output.turn
    this.#host.touch()
  }

  override answered(trailers: readonly string[]): void {
    if (!this.#open || this.#complete) return
    this.#complete = true
    this.#trailers = trailers
    if (!this.pending) this.#sendEnd()
  }

  #sendEnd(): void {
    const { output, encoder } = this.#host
    this.#localEnded = true
    if (this.#trailers.length > 0) this.#putBlock(FLAG.endStream, encoder.trailers(this.#trailers))
    else if (this.#frameTurn === output.turn) output.addFlag(this.#frameAt, FLAG.endStream)
    else output.frame(FRAME.data, FLAG.endStream, this.id, EMPTY)
    this.#host.touch()
    if (this.body.ended) this.#host.release(this, false)
    else if (this.#unwanted) this.#cancel(ERROR.none)
  }

  /** The answer may go to the client as a whole, although it still sends. */
  override end(): void {
    if (!this.#headSent) return this.reset()
    this.answered(NO_TRAILERS)
    this.#dismiss()
  }

  /** Tells the client that its request need not be sent to the end (RFC 9113 8.1), once it has its answer. */
  #dismiss(): void {
    if (!this.#open) return
    if (this.body.isTunnel) {
      if (this.#localEnded && this.body.ended) this.#host.release(this, false)
      return
    }
    this.#unwanted = true
    if (this.#localEnded) this.#cancel(ERROR.none)
  }

  override stream(): void {}

  /** The connection has it from its beginning. */
  override keepAlive(): void {}

  override destroy(): void {
    if (!this.#open) this.gone()
    else if (this.#localEnded) this.#cancel(ERROR.none)
    else this.reset()
  }

  override reset(): void {
    if (this.#open) this.#cancel(ERROR.internal)
  }

  /** Ends the stream with a code. */
  #cancel(code: number): void {
    this.#host.output.numberFrame(FRAME.reset, this.id, code)
    this.#host.release(this, true)
  }

  /** Forgets the stream: nothing of it comes or goes any more. */
  close(): void {
    this.#open = false
    this.#awaitsTunnel = false
    this.#waiting = []
    this.#waitingAt = 0
    this.body.drop()
  }

  /** The relay has to do without the wire. */
  leave(): void {
    this.gone()
  }

  /**
   * Ends a stream whose client takes nothing of what waits for it, nor of its other streams: those it may prefer, and
   * it is slow then, not gone. `now` is monotonic milliseconds.
   */
  tick(now: number): void {
    const since = Math.max(this.#waitingSince, this.#host.progressAt)
    if (this.#open && this.pending && now - since > READER_TIMEOUT_MS) this.reset()
  }

  // --- what comes in

  giveBack(ofConnection: number, ofStream: number): void {
    this.#host.took(ofConnection)
    if (ofStream === 0 || !this.#open) return
    this.#host.output.numberFrame(FRAME.windowUpdate, this.id, ofStream)
    this.#host.touch()
  }

  /** The client has sent its last byte; `trailers` are lines. False when that is less than it announced. */
  endBody(trailers: string): boolean {
    const whole = this.body.end(trailers)
    // Of a tunnel the last bytes may still wait for the upstream, which ends it.
    if (whole && this.#open && this.#localEnded && !this.body.isTunnel) this.#host.release(this, false)
    return whole
  }

  tunnelEnded(): void {
    this.peerEnded()
  }

  protected override stopReading(): void {}

  protected override goOnReading(): void {
    if (this.#awaitsTunnel) this.paused = true
    else this.body.resume()
  }
}
