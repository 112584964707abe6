import { monotonicMs } from '../clock.ts'
import { codingWanted } from '../compression/compress.ts'
import { countAnswer, countStatus } from '../counts.ts'
import { NO_TRAILERS } from '../http1/body.ts'
import { BODY_TOO_LARGE } from '../edge/answers.ts'
import { latin1 } from '../http1/bytes.ts'
import type { FieldChanges } from '../http1/change-fields.ts'
import type { Head } from '../http1/head.ts'
import { BAD_GATEWAY, GATEWAY_TIMEOUT, refusal, type Answer } from '../pages/answers.ts'
import { acceptOf, prefersJson, render } from '../pages/render.ts'
import { Instance } from '../routes/instance.ts'
import { SiteAnswer, type SiteClient } from '../sites/answer.ts'
import { readSiteRequest } from '../sites/request.ts'
import { Site } from '../sites/site.ts'
import type { UpstreamClient } from '../upstream/upstream.ts'
import { slab } from '../wire/slab.ts'
import { READ_BUFFER_BYTES } from '../wire/socket-wire.ts'
import type { Wire } from '../wire/wire.ts'
import { AccessEntry } from './access-entry.ts'
import { CurrentRequest } from './current-request.ts'
import { Delivery } from './delivery.ts'
import type { ClientConnection, ServingWorker } from './client-connection.ts'
import { Destination } from './destination.ts'
import { finishRequestHead } from './forwarded-head.ts'
import { hideSessions } from './session-cookie.ts'
import {
  BODY_TIMEOUT_MS,
  CONNECT_TIMEOUT_MS,
  HALF_CLOSED_TIMEOUT_MS,
  KEEP_ALIVE_AFTER_MS,
  READER_TIMEOUT_MS,
} from './waits.ts'

const CLIENT_LEFT = 499

/** The body of the request is arriving. */
const BODY = 0
/** The answer is awaited, or is being sent. */
const WAIT = 1
const TUNNEL = 2

/** Handles the requests of a connection one after another: finds who answers, and keeps both sides in step. */
export class Exchange implements UpstreamClient, SiteClient {
  readonly request = new CurrentRequest()
  readonly wire: Wire
  closeAfter = false
  readonly #worker: ServingWorker
  readonly #connection: ClientConnection
  readonly #destination: Destination
  readonly #delivery = new Delivery(this)
  /** Set if the request is written to an access log, until it ends. */
  #access: AccessEntry | null = null
  /** Set instead of an upstream. */
  #siteAnswer: SiteAnswer | null = null
  #phase = WAIT
  /** Whether the answer has begun. */
  #begun = false
  /** When the request came that waits for the check of its password; 0 if none does. */
  #heldSince = 0

  constructor(worker: ServingWorker, connection: ClientConnection) {
    this.#worker = worker
    this.#connection = connection
    this.wire = connection.wire
    this.#destination = new Destination(worker, connection.peer)
  }

  get ended(): boolean {
    return this.#connection.ended
  }

  get hstsSeconds(): number {
    return this.#connection.peer.secure ? this.#worker.routes.hstsSeconds : 0
  }

  get fieldChanges(): FieldChanges | null {
    return this.#destination.visit?.fieldChanges(this.instance?.token ?? null) ?? null
  }

  /** The instance that answers. */
  get instance(): Instance | null {
    return this.#delivery.instance
  }

  /** Whether a request is being answered by an instance or from a site. */
  get answering(): boolean {
    return this.#delivery.upstream !== null || this.#siteAnswer !== null
  }

  /** Sets the deadline. After a stall the worker's clock is behind, so short timeouts pass a `now` of their own. */
  #wait(milliseconds: number, now = this.#worker.now): void {
    this.#connection.deadline = now + milliseconds
  }

  // --- the request

  /**
   * Starts to serve the request whose head was read from `input` and is copied in the slab. Returns a promise if that has to
   * wait: once it has resolved, the request has to begin again.
   */
  begin(head: Head, input: Buffer): Promise<void> | null {
    const { request } = this
    request.describe(head, input)
    if (this.#heldSince > 0) request.arrivedAt = this.#heldSince
    this.#heldSince = 0
    this.#begun = false
    this.#phase = request.body.done ? WAIT : BODY
    this.closeAfter = request.last
    if (request.body.remaining > READ_BUFFER_BYTES) this.wire.stream(true)
    const answerer = this.#destination.choose(head, input, request.startedAt)
    this.#beginAccess(head)
    if (answerer instanceof Instance) this.#deliver(answerer, head, input)
    else if (answerer instanceof Site) this.#serve(answerer, head)
    else if (answerer instanceof Promise) {
      this.#heldSince = request.arrivedAt
      return answerer
    } else this.respond(answerer, acceptOf(latin1(slab.buffer, slab.at, head.outputEnd)))
    return null
  }

  #beginAccess(head: Head): void {
    const service = this.#destination.accessLog
    if (service === null) return
    const ip = this.#connection.peer.clientAddress(head.forwarded, this.#worker.routes)
    this.#access = new AccessEntry(
      service,
      this.#destination.name,
      ip,
      slab.buffer,
      slab.at,
      head,
      this.request,
    )
  }

  /** The request has ended, whatever became of its answer. */
  #endAccess(): void {
    const access = this.#access
    if (access === null) return
    this.#access = null
    this.#worker.accessLog.add(access.line(this.wire.written))
  }

  /** Answers a request whose head cannot be read. */
  refuse(status: number, headOnly: boolean): void {
    this.request.begin(headOnly)
    this.#begun = false
    this.#destination.forget()
    this.respond(refusal(status))
  }

  #serve(site: Site, head: Head): void {
    const asked = readSiteRequest(slab.buffer, slab.at, head)
    this.#phase = WAIT
    this.siteSent()
    this.#siteAnswer = new SiteAnswer(this, site, this.#worker.files, asked)
    this.#siteAnswer.begin()
  }

  #deliver(instance: Instance, head: Head, input: Buffer): void {
    const { peer } = this.#connection
    const target = this.#destination.target!
    if (target.compression) this.request.compression = codingWanted(head)
    if (!target.isDashboard) hideSessions(slab.buffer, head)
    const headEnd = finishRequestHead(head, input, slab.buffer, peer, this.#worker.routes, this.request)
    const { replayable, startedAt } = this.request
    this.#access?.sentTo(instance)
    if (this.#delivery.begin(instance, headEnd, replayable, startedAt)) this.#awaitAnswer()
    else this.#wait(CONNECT_TIMEOUT_MS, startedAt)
  }

  /** Takes the part of `input[at, end)` that belongs to the request. Returns the index after it. */
  take(input: Buffer, at: number, end: number): number {
    if (this.#phase === BODY) return this.#readBody(input, at, end)
    if (this.#phase === WAIT) return at
    if (this.#connection.deadline !== 0) this.#wait(HALF_CLOSED_TIMEOUT_MS)
    this.#delivery.upstream!.wire.relay(input, at, end, this.wire)
    return end
  }

  #readBody(input: Buffer, at: number, end: number): number {
    const { body } = this.request
    const stop = body.take(input, at, end)
    if (stop < 0) {
      this.respond(refusal(400))
      return end
    }
    if (body.taken > (this.#destination.visit?.maxBodyBytes ?? Infinity)) {
      this.respond(BODY_TOO_LARGE)
      return end
    }
    if (body.done) this.#phase = WAIT
    this.#delivery.upstream!.send(input, at, stop, this.wire)
    this.#awaitUpstream()
    return stop
  }

  /** Sets the deadline for the side whose turn it is: the client to send, or the upstream to take and answer. */
  #awaitUpstream(): void {
    if (this.#begun) this.#connection.deadline = 0
    else if (this.#delivery.upstream?.connected === false) return
    else if (this.#phase === BODY && !this.wire.paused) this.#wait(BODY_TIMEOUT_MS)
    else this.#awaitAnswer()
  }

  #awaitAnswer(): void {
    const { upstreamTimeoutMs } = this.#destination
    this.#wait(this.ended ? HALF_CLOSED_TIMEOUT_MS : upstreamTimeoutMs)
  }

  // --- the answer

  closesAfterAnswer(status: number): boolean {
    // A body that is refused half-way is not read to its end, so no request can follow.
    if (this.#worker.retiring || this.#connection.hasNoMore || (!this.request.body.done && status >= 300))
      this.closeAfter = true
    return this.closeAfter
  }

  answerBegins(status: number, headBytes: number): void {
    this.#begun = true
    this.#access?.answerBegins(status, this.wire.written + headBytes)
    if (this.ended) this.#wait(HALF_CLOSED_TIMEOUT_MS)
    else this.#connection.deadline = 0
    this.#count(status)
  }

  #count(status: number): void {
    countAnswer(this.#destination.counts, status, (monotonicMs() - this.request.arrivedAt) / 1000)
  }

  tunnel(written: number): void {
    this.#begun = true
    this.#access?.answerBegins(101, this.wire.written - written)
    this.#phase = TUNNEL
    this.#connection.deadline = 0
    countStatus(this.#destination.counts, 101)
    this.wire.keepAlive()
    this.#delivery.upstream!.wire.keepAlive()
    this.#connection.passEarlyBytes()
  }

  finish(trailers: readonly string[] = NO_TRAILERS): void {
    const whole = this.request.body.done
    // What this client held back may go on, whatever this client does from here on.
    this.wire.releaseSource()
    this.#siteAnswer = null
    this.#delivery.finish(whole, this.#worker.now)
    this.wire.answered(trailers)
    this.#endAccess()
    this.#connection.answerSent(this.closeAfter || !whole || this.#connection.hasNoMore)
  }

  siteSent(): void {
    this.#wait(READER_TIMEOUT_MS)
  }

  /** Sends a page of the relay's own in the format that the request accepts, or cuts off an answer that has begun. */
  respond(answer: Answer, accept = acceptOf(this.#delivery.upstream?.keptHead() ?? '')): void {
    const json = prefersJson(accept)
    this.wire.releaseSource()
    this.#delivery.drop()
    this.#siteAnswer = null
    if (this.#begun) {
      this.#endAccess()
      return this.#connection.cutAnswer()
    }
    const { headOnly: bodyless, requestId, discardable, body } = this.request
    const { hstsSeconds } = this
    const close =
      this.closeAfter || answer.closes || this.#worker.retiring || this.#connection.hasNoMore || !discardable
    const { bytes, headBytes } = render(answer, { json, bodyless, close, requestId, hstsSeconds })
    this.#begun = true
    this.#count(answer.status)
    this.#access?.answerBegins(answer.status, this.wire.written + headBytes)
    this.wire.write(bytes, 0, bytes.length)
    this.wire.answered(NO_TRAILERS)
    this.#endAccess()
    if (close || body.done) this.#connection.answerSent(close)
    else this.#connection.discardBody()
  }

  refuseAnswer(answer = BAD_GATEWAY, accept?: string): void {
    this.respond(answer, accept)
  }

  /** The client took what was written. */
  onDrain(): void {
    this.#siteAnswer?.onDrain()
  }

  // --- the upstream

  upstreamConnected(): void {
    this.#delivery.instance!.connected()
    this.#awaitUpstream()
  }

  upstreamActive(): void {
    this.#wait(HALF_CLOSED_TIMEOUT_MS)
  }

  upstreamEnded(): void {
    this.#wait(HALF_CLOSED_TIMEOUT_MS)
    this.wire.end()
  }

  upstreamGone(): void {
    if (this.#phase === TUNNEL) {
      this.#delivery.drop()
      this.wire.breakOff()
      this.#endAccess()
      return this.#connection.answerSent(true)
    }
    if (this.#delivery.retry(this.#destination.target, this.request.replayable)) {
      this.#access?.sentTo(this.#delivery.instance!)
      return this.#wait(CONNECT_TIMEOUT_MS, monotonicMs())
    }
    this.respond(BAD_GATEWAY)
  }

  // --- the client

  /** The client has sent FIN. */
  clientEnded(): void {
    if (this.#phase === BODY) {
      this.clientGone()
      return this.wire.destroy()
    }
    this.#wait(HALF_CLOSED_TIMEOUT_MS)
    if (this.#phase === TUNNEL) this.#delivery.upstream!.wire.end()
  }

  /** Ends the work for a client that is gone; counts 499 if it left before the answer. */
  clientGone(): void {
    const siteAnswer = this.#siteAnswer
    if (!this.answering) return
    this.#siteAnswer = null
    this.#delivery.drop()
    siteAnswer?.cancel()
    if (!this.#begun) countStatus(this.#destination.counts, CLIENT_LEFT)
    this.#endAccess()
  }

  /** The client left while its request was held. */
  abandon(): void {
    this.#heldSince = 0
    countStatus(this.#destination.counts, CLIENT_LEFT)
    this.#endAccess()
  }

  cut(): void {
    this.#connection.cut()
  }

  /** Closes a tunnel to a service that came under maintenance. */
  endIfMaintained(): void {
    if (this.#phase === TUNNEL && this.#destination.isMaintained) this.cut()
  }

  /** Called with each tick of the relay's clock. */
  tick(now: number): void {
    if (this.#delivery.upstream === null || now - this.request.startedAt <= KEEP_ALIVE_AFTER_MS) return
    if (this.#delivery.probe()) this.wire.keepAlive()
  }

  /** The deadline has passed. */
  expired(): void {
    // Streams share the connection's way to the client, so this one may just be waiting; the wire ends stalled streams.
    if (this.#siteAnswer && this.wire.frames && this.wire.pending) return this.siteSent()
    if (this.#delivery.upstream?.connected === false) return this.upstreamGone()
    if (this.#phase === BODY) return this.respond(this.wire.paused ? GATEWAY_TIMEOUT : refusal(408))
    if (this.#phase === TUNNEL || this.ended || this.#siteAnswer) return this.cut()
    this.respond(GATEWAY_TIMEOUT)
  }
}
