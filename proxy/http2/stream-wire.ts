import { monotonicMs } from '../clock.ts'
import { NO_TRAILERS } from '../http1/body.ts'
import { READER_TIMEOUT_MS } from '../relay/waits.ts'
import { held, type Holder } from '../wire/held.ts'
import { MIN_WRITTEN_BYTES, PIECE_BYTES, type Page } from '../wire/page.ts'
import { slab } from '../wire/slab.ts'
import { staysUntilRead } from '../wire/socket-wire.ts'
import { Wire } from '../wire/wire.ts'
import { Backlog } from './backlog.ts'
import { IncomingBody, type BodyReader } from './incoming-body.ts'
import { OutgoingFrames, type FramesHost } from './outgoing-frames.ts'
import { OutgoingHeads } from './outgoing-heads.ts'
import type { PageStream, PageTurns } from './page-turns.ts'
import { NO_PRIORITY, type Priority } from './priority.ts'
import { ERROR, FRAME } from './protocol.ts'
import type { RequestFraming } from './request-fields.ts'
import { CONNECTION_BLOCKED, MORE, SENT, STREAM_BLOCKED, type Sender, type SendResult } from './scheduler.ts'

/** The connection of a stream. */
export interface StreamHost extends FramesHost {
  /** Monotonic milliseconds at which the client last took something of any stream. */
  progressAt: number
  readonly pages: PageTurns
  /** The stream has more to send than it can now. */
  wait(stream: StreamWire): void
  /** So many bytes of DATA were read: the client may send as many more. */
  took(bytes: number): void
  /** The stream has ended. After a reset by us (`wasReset`), frames of it may still arrive. */
  release(stream: StreamWire, wasReset: boolean): void
}

/**
 * The streams of one HTTP/2 connection, one after another, in the form of a connection for the relay. The relay writes an
 * HTTP/1.1 head and the body without chunks; they are sent as frames.
 */
export class StreamWire extends Wire implements Sender, BodyReader, PageStream, Holder {
  override readonly frames = true
  heldBytes = 0
  readonly body = new IncomingBody(this)
  priority: Priority = NO_PRIORITY
  readonly #host: StreamHost
  readonly #frames: OutgoingFrames
  readonly #heads: OutgoingHeads
  #open = false
  #complete = false
  #localEnded = false
  /** Whether nobody wants what the client still sends. */
  #unwanted = false
  /** Whether it is a tunnel whose other end was reset. */
  #broken = false
  #trailers: readonly string[] = NO_TRAILERS
  readonly #backlog = new Backlog()
  /** Whether it has asked for room and got none. */
  #awaitsRoom = false
  /** Monotonic milliseconds at which it asked. */
  #askedAt = 0

  constructor(host: StreamHost) {
    super()
    this.#host = host
    this.#frames = new OutgoingFrames(host)
    this.#heads = new OutgoingHeads(host, this.#frames)
  }

  /** Begins to serve a stream; the previous one has ended. */
  begin(id: number, window: number, { body, length, priority }: RequestFraming, ended: boolean): void {
    this.#frames.begin(id, window)
    this.closed = false
    this.priority = priority ?? NO_PRIORITY
    this.#open = true
    this.#complete = false
    this.#localEnded = false
    this.#unwanted = false
    this.#broken = false
    this.#trailers = NO_TRAILERS
    this.body.begin(body, length, ended)
    this.#heads.begin(this.body.isTunnel)
    if (this.body.isTunnel) this.pause()
  }

  get id(): number {
    return this.#frames.id
  }

  /** Bytes of DATA that the client accepts on the stream. */
  get window(): number {
    return this.#frames.window
  }

  /** Whether it serves a stream. */
  get isOpen(): boolean {
    return this.#open
  }

  // --- output

  override get pending(): boolean {
    return !this.#backlog.isEmpty || this.#awaitsRoom
  }

  override writeSlab(end: number): boolean {
    return this.#send(slab.buffer, slab.at, end, true)
  }

  override write(bytes: Buffer, start: number, end: number): boolean {
    return this.#send(bytes, start, end, false)
  }

  override relay(input: Buffer, start: number, end: number, from: Wire | null): void {
    if (start < end && !this.#send(input, start, end, !staysUntilRead(input)) && from) this.holdBack(from)
  }

  override room(): number {
    if (!this.#open) return Infinity
    const room = Math.min(this.window, this.#host.window)
    if (room <= 0) this.#host.pages.leave(this)
    const waits = room <= 0 || !this.#host.pages.take(this)
    if (waits && !this.#awaitsRoom) this.#askedAt = monotonicMs()
    this.#awaitsRoom = waits
    if (!waits) return room
    // If only the stream's own window is closed, `widen` continues.
    if (this.window > 0) this.#host.wait(this)
    return 0
  }

  onTurn(): void {
    this.#host.wait(this)
  }

  override writePage(page: Page, start: number, end: number, last: boolean): boolean {
    // The rest is so short that it may wait without a page, which others can use.
    if (end - start <= PIECE_BYTES) this.#host.pages.leave(this)
    else this.#host.pages.use(this)
    if (end - start < MIN_WRITTEN_BYTES) return this.#sendPieces(page, start, end)
    if (!this.#open || this.#complete || this.#heads.bodyless) return !this.pending
    this.written += end - start
    // It is sent when everything that comes before it was collected.
    this.#keep(page, start, end, last)
    return false
  }

  /** Keeps what cannot be sent yet. */
  #keep(source: Buffer | Page, start: number, end: number, last = false): void {
    this.#backlog.add(source, start, end, last)
    held.set(this, this.#backlog.bytes)
    this.#host.wait(this)
  }

  /** Sends a short piece with a copy, so that it shares a write with other streams. */
  #sendPieces(page: Page, start: number, end: number): boolean {
    for (let at = start, stop = 0; at < end; at = stop) {
      stop = page.stopOf(at, end)
      const index = page.indexOf(at)
      this.#send(page.memory, index, index + stop - at, false)
    }
    return !this.pending
  }

  /** Sends what may be sent, and keeps the rest; if the bytes are `transient`, a copy of it. */
  #send(bytes: Buffer, start: number, end: number, transient: boolean): boolean {
    if (!this.#open || this.#complete) return true
    this.written += end - start
    let at = this.#heads.sent ? start : this.#sendHeads(bytes, start, end)
    if (at >= end || this.#heads.bodyless) return !this.pending
    if (!this.pending) at = this.#frames.data(bytes, at, end)
    if (at < end) {
      if (transient) this.#keep(Buffer.from(bytes.subarray(at, end)), 0, end - at)
      else this.#keep(bytes, at, end)
    }
    return !this.pending
  }

  #sendHeads(bytes: Buffer, start: number, end: number): number {
    const at = this.#heads.send(bytes, start, end)
    if (this.#heads.sent && this.#heads.awaitsTunnel) this.#refuseTunnel()
    return at
  }

  /** The answer is not that of a tunnel: what the client would have sent through it is not wanted. */
  #refuseTunnel(): void {
    this.#heads.awaitsTunnel = false
    this.#unwanted = true
    this.body.refuse()
  }

  sendWaiting(once: boolean): SendResult {
    const backlog = this.#backlog
    while (!backlog.isEmpty) {
      // If nothing was sent, do not retry now, whatever the reason.
      if (!backlog.sendSome(this.#frames, once)) return this.window <= 0 ? STREAM_BLOCKED : CONNECTION_BLOCKED
      held.set(this, backlog.bytes)
      this.#host.progressAt = monotonicMs()
      if (once) break
    }
    if (!backlog.isEmpty) return MORE
    return this.#awaitsRoom ? this.#findRoom() : SENT
  }

  #findRoom(): SendResult {
    if (this.window <= 0) {
      this.#host.pages.leave(this)
      return STREAM_BLOCKED
    }
    if (this.#host.window <= 0) return CONNECTION_BLOCKED
    if (!this.#host.pages.take(this)) return STREAM_BLOCKED
    this.#awaitsRoom = false
    return SENT
  }

  sent(): void {
    if (this.#complete && !this.#localEnded) this.#sendEnd()
    this.drained()
  }

  /** The client accepts more bytes on the stream. */
  widen(bytes: number): void {
    this.#frames.window += bytes
    if (this.pending) this.#host.wait(this)
  }

  override answered(trailers: readonly string[]): void {
    if (!this.#open || this.#complete) return
    this.#complete = true
    this.#host.pages.leave(this)
    this.#trailers = trailers
    if (!this.pending) this.#sendEnd()
  }

  #sendEnd(): void {
    this.#localEnded = true
    if (this.#broken) return this.#cancel(ERROR.cancel)
    this.#frames.end(this.#trailers)
    if (this.body.ended) this.#host.release(this, false)
    else if (this.#unwanted) this.#cancel(ERROR.none)
  }

  /** Sends the whole answer, although the client still sends. */
  override end(): void {
    if (!this.#heads.sent) return this.reset()
    this.answered(NO_TRAILERS)
    this.#dismiss()
  }

  /** Tells the client, once it has its answer, that it need not send the rest of its request (RFC 9113 8.1). */
  #dismiss(): void {
    if (!this.#open) return
    if (this.body.isTunnel) {
      if (this.#localEnded && this.body.ended) this.#host.release(this, false)
      return
    }
    this.#unwanted = true
    if (this.#localEnded) this.#cancel(ERROR.none)
  }

  /** Resets a tunnel, unless it has ended by itself: a reset must be distinguishable from that (RFC 8441 5). */
  override breakOff(): void {
    if (!this.#open || this.#complete) return
    this.#broken = true
    this.answered(NO_TRAILERS)
  }

  override stream(): void {}

  /** Does nothing: the connection has keep-alive from its beginning. */
  override keepAlive(): void {}

  override destroy(): void {
    if (!this.#open) this.gone()
    else if (this.#localEnded) this.#cancel(ERROR.none)
    else this.reset()
  }

  override reset(): void {
    if (this.#open) this.#cancel(ERROR.internal)
  }

  /** Ends the stream with an error code. */
  #cancel(code: number): void {
    this.#host.output.numberFrame(FRAME.reset, this.id, code)
    this.#host.release(this, true)
  }

  /** Forgets the stream: nothing of it is read or sent any more. */
  close(): void {
    this.#open = false
    this.#heads.awaitsTunnel = false
    this.#backlog.clear()
    this.#awaitsRoom = false
    this.#host.pages.leave(this)
    held.set(this, 0)
    this.body.drop()
  }

  /** Tells the relay that the wire is gone. */
  leave(): void {
    this.gone()
  }

  /**
   * Ends a stream whose client takes nothing of it, nor of its other streams: if it reads those, it is slow or prefers them,
   * but it is not gone. `now` is monotonic milliseconds.
   */
  tick(now: number): void {
    const since = Math.max(this.#awaitsRoom ? this.#askedAt : this.#backlog.since, this.#host.progressAt)
    if (this.#open && this.pending && now - since > READER_TIMEOUT_MS) this.reset()
  }

  giveUp(): void {
    if (this.#open) this.#cancel(ERROR.enhanceYourCalm)
  }

  // --- input

  giveBack(ofConnection: number, ofStream: number): void {
    this.#host.took(ofConnection)
    if (ofStream === 0 || !this.#open) return
    this.#host.output.numberFrame(FRAME.windowUpdate, this.id, ofStream)
    this.#host.touch()
  }

  /** The client has sent its last byte; `trailers` are lines. False if the body is shorter than announced. */
  endBody(trailers: string): boolean {
    const whole = this.body.end(trailers)
    // The last bytes of a tunnel may still wait for the upstream, which ends it.
    if (whole && this.#open && this.#localEnded && !this.body.isTunnel) this.#host.release(this, false)
    return whole
  }

  tunnelEnded(): void {
    this.peerEnded()
  }

  protected override stopReading(): void {}

  protected override startReading(): void {
    if (this.#heads.awaitsTunnel) this.paused = true
    else this.body.resume()
  }
}
