import { COMPLETE, INCOMPLETE } from '../http1/head.ts'
import { METHOD_HEAD } from '../http1/request-head.ts'
import type { Instance } from '../routes/instance.ts'
import type { Wire, WireOwner } from '../wire/wire.ts'
import type { ClientConnection, ServingWorker } from './client-connection.ts'
import { Exchange } from './exchange.ts'
import { readHead, request } from './incoming-head.ts'
import type { Peer } from './peer.ts'
import { Pending } from './pending.ts'
import { BODY_TIMEOUT_MS, HEAD_TIMEOUT_MS, IDLE_TIMEOUT_MS, LINGER_MS } from './waits.ts'

/** Waits for a request. */
const IDLE = 0
/** Serves a request. */
const BUSY = 1
/** Reads the body of a request that was answered already. */
const DISCARD = 2
/** Has read a request that waits for the check of its password. */
const HELD = 3
const CLOSING = 4
const CLOSED = 5

/** The worker that accepted the connection. */
export interface AcceptingWorker extends ServingWorker {
  /** The connection is gone. */
  forget(client: Client): void
}

/** One accepted connection: reads requests and has them answered one after the other. */
export class Client implements WireOwner, ClientConnection {
  readonly wire: Wire
  readonly peer: Peer
  ended = false
  deadline = 0
  readonly #worker: AcceptingWorker
  readonly #exchange: Exchange
  readonly #pending = new Pending()
  #state = IDLE
  /** Whether more bytes came in the same read as the request. */
  #followed = false

  constructor(worker: AcceptingWorker, peer: Peer, wire: Wire) {
    this.#worker = worker
    this.peer = peer
    this.wire = wire
    wire.owner = this
    this.#exchange = new Exchange(worker, this)
    this.#wait(HEAD_TIMEOUT_MS)
  }

  /** Whether a request is being answered by an instance or from a site. */
  get answering(): boolean {
    return this.#exchange.answering
  }

  /** The instance that answers. */
  get instance(): Instance | null {
    return this.#exchange.instance
  }

  /** Whether it waits for a request and nothing of one has arrived. */
  get idle(): boolean {
    return this.#state === IDLE && this.#pending.length === 0
  }

  get hasNoMore(): boolean {
    return this.ended && this.#pending.length === 0 && !this.#followed
  }

  #wait(milliseconds: number): void {
    this.deadline = this.#worker.now + milliseconds
  }

  // --- events of the wire

  onRead(input: Buffer, length: number): void {
    switch (this.#state) {
      case IDLE:
        return this.#readHeads(input, length)
      case HELD:
        this.#pending.add(input, 0, length)
        if (this.#pending.full) this.wire.pause()
        return
      case BUSY:
        return this.#stash(input, this.#exchange.take(input, 0, length), length)
      case DISCARD:
        this.#stash(input, this.#discard(input, 0, length), length)
        return this.#continue()
    }
  }

  onDrain(): void {
    this.#exchange.onDrain()
    this.#continue()
  }

  onEnd(): void {
    this.ended = true
    if (this.#state === BUSY) return this.#exchange.clientEnded()
    if (this.#state === HELD) return
    if (this.#pending.length > 0 && this.#state === IDLE && this.wire.pending) return
    this.wire.end()
  }

  onClose(): void {
    if (this.#state === HELD) this.#exchange.abandon()
    this.#exchange.clientGone()
    this.#state = CLOSED
    this.#pending.clear()
    this.#worker.forget(this)
  }

  // --- requests

  #readHeads(input: Buffer, length: number): void {
    const before = this.#pending.length
    if (before === 0) return this.#process(input, 0, length)
    this.#pending.add(input, 0, length)
    if (this.wire.pending) {
      if (this.#pending.full) this.wire.pause()
      return
    }
    if (this.#pending.mayBeParsable(before)) this.#continue()
  }

  /** Processes the bytes that waited, if nothing blocks that. */
  #continue(): void {
    if (this.#state !== IDLE || this.wire.pending) return
    const bytes = this.#pending.take()
    if (!bytes) return
    this.wire.resume()
    this.#process(bytes, 0, bytes.length)
    if (this.ended) this.onEnd()
  }

  #process(input: Buffer, at: number, end: number): void {
    // A loop: recursion would go as deep as there are requests in one read that the relay answers itself.
    while (at < end && this.#state === IDLE && !this.wire.pending) {
      at = this.#begin(input, at, end)
    }
    this.#stash(input, at, end)
    this.#followed = false
  }

  #stash(input: Buffer, at: number, end: number): void {
    if (at >= end || this.#state >= CLOSING) return
    // A stream has only one request: what follows would be taken for the next one.
    if (this.wire.frames) return this.cut()
    this.#pending.add(input, at, end)
    if (this.#pending.full) this.wire.pause()
  }

  /** Reads one request head and starts to serve it. Returns the index after what it used. */
  #begin(input: Buffer, at: number, end: number): number {
    const result = readHead(this.peer, input, at, end)
    if (result === INCOMPLETE) return this.#await(input, at, end)
    this.#state = BUSY
    if (result !== COMPLETE) {
      this.#exchange.refuse(result, request.method === METHOD_HEAD)
      return end
    }
    const from = request.inputEnd
    this.#followed = from < end
    const wait = this.#exchange.begin(request, input)
    if (wait) return this.#hold(wait, input, at, end)
    if (this.#state === BUSY) return this.#exchange.take(input, from, end)
    return this.#state === DISCARD ? this.#discard(input, from, end) : from
  }

  /** Keeps a request that cannot begin yet; it is read again, as if it had just come, when the wait is over. */
  #hold(wait: Promise<void>, input: Buffer, at: number, end: number): number {
    this.#state = HELD
    this.deadline = 0
    this.#pending.add(input, at, end)
    wait.then(() => this.#release()).catch((error: unknown) => this.wire.fail(error))
    return end
  }

  #release(): void {
    // The client may have left.
    if (this.#state !== HELD) return
    this.#state = IDLE
    const bytes = this.#pending.take()!
    this.#process(bytes, 0, bytes.length)
    this.wire.resume()
    if (this.ended) this.onEnd()
  }

  #await(input: Buffer, at: number, end: number): number {
    this.#pending.add(input, at, end)
    this.#wait(HEAD_TIMEOUT_MS)
    return end
  }

  /** Reads the body of a request that was answered already. */
  #discard(input: Buffer, at: number, end: number): number {
    const answered = this.#exchange.request
    const stop = answered.discard(input, at, end)
    if (stop < 0) {
      this.#linger()
      return end
    }
    this.#wait(BODY_TIMEOUT_MS)
    if (answered.body.done) this.#becomeIdle()
    return stop
  }

  // --- answers

  answerSent(last: boolean): void {
    if (last) return this.#linger()
    this.#becomeIdle()
    this.#continue()
  }

  discardBody(): void {
    this.#state = DISCARD
    this.#wait(BODY_TIMEOUT_MS)
    this.wire.resume()
  }

  cutAnswer(): void {
    this.#state = CLOSING
    this.#wait(LINGER_MS)
    this.wire.reset()
  }

  passEarlyBytes(): void {
    this.wire.resume()
    const early = this.#pending.take()
    if (early) this.#exchange.take(early, 0, early.length)
    if (this.ended) this.onEnd()
  }

  #becomeIdle(): void {
    this.#state = IDLE
    this.#wait(IDLE_TIMEOUT_MS)
    this.wire.stream(false)
    this.wire.resume()
  }

  /** Ends the connection in a way that lets the client read the answer although it still sends (RFC 9112 9.6). */
  #linger(): void {
    this.#state = CLOSING
    this.#pending.clear()
    this.#wait(LINGER_MS)
    this.wire.end()
    this.wire.resume()
  }

  // --- time

  /** The table has changed: a tunnel to a service that came under maintenance is closed. */
  endIfMaintained(): void {
    this.#exchange.endIfMaintained()
  }

  /** Called with each tick of the worker's clock. */
  tick(now: number): void {
    if (this.deadline !== 0 && now > this.deadline) this.#expired(now)
    this.#exchange.tick(now)
  }

  #expired(now: number): void {
    switch (this.#state) {
      case IDLE:
        // A slow reader gets its answer first.
        if (this.wire.pending) this.deadline = now + IDLE_TIMEOUT_MS
        // A lone CRLF after a request is not the beginning of another one.
        else if (this.#pending.length <= 2) this.cut()
        else this.#exchange.refuse(408, false)
        return
      case BUSY:
        return this.#exchange.expired()
      case CLOSING:
        // A slow reader gets its answer first.
        if (this.wire.pending) this.deadline = now + LINGER_MS
        else this.cut()
        return
      default:
        return this.cut()
    }
  }

  cut(): void {
    if (this.#state === HELD) this.#exchange.abandon()
    this.#exchange.clientGone()
    this.#state = CLOSING
    this.wire.destroy()
  }

  /** Closes a connection that waits for its next request. */
  closeIdle(): void {
    if (!this.idle) return
    if (this.wire.pending) this.#linger()
    else this.cut()
  }
}
