import { SiteAnswer } from '../sites/answer.ts'
import { readSiteRequest } from '../sites/request.ts'
import type { Site } from '../sites/site.ts'
import { Body, NO_TRAILERS } from './body.ts'
import { Destination } from './destination.ts'
import { REQUEST_ADDED_BYTES, finishRequestHead } from './forwarded-head.ts'
import { COMPLETE, HEAD_GROWTH_BYTES, Head, INCOMPLETE, MAX_HEAD_BYTES, latin1 } from './head.ts'
import {
  BAD_GATEWAY,
  GATEWAY_TIMEOUT,
  NO_SUCH_HOST,
  acceptOf,
  prefersJson,
  refusal,
  render,
  unavailableAnswer,
  type Answer,
} from './pages.ts'
import type { Peer } from './peer.ts'
import { Pending } from './pending.ts'
import { canonicalRedirect, pathOf, proofAnswer, proofPath, secureRedirect } from './plain.ts'
import type { Relay } from './relay.ts'
import { METHOD_HEAD, METHOD_OTHER, METHOD_REFUSED, parseRequestHead } from './request-head.ts'
import { makeRequestId } from './request-id.ts'
import { hostName, type Instance, type TargetRoute } from './routes.ts'
import { slab } from './slab.ts'
import { READ_BUFFER_BYTES } from './socket-wire.ts'
import { Upstream } from './upstream.ts'
import {
  BODY_TIMEOUT_MS,
  CONNECT_TIMEOUT_MS,
  HALF_CLOSED_TIMEOUT_MS,
  HEAD_TIMEOUT_MS,
  IDLE_TIMEOUT_MS,
  KEEP_ALIVE_AFTER_MS,
  LINGER_MS,
  READER_TIMEOUT_MS,
} from './waits.ts'
import type { Wire, WireOwner } from './wire.ts'

/** The body of a request answered by the relay itself is read up to here to keep the connection. */
const MAX_DISCARDED_BYTES = 256 * 1024

const IDLE = 0
const BODY = 1
const WAIT = 2
const TUNNEL = 3
const DISCARD = 4
const CLOSING = 5
const CLOSED = 6

const request = new Head()

/** One accepted connection: reads requests, finds each its upstream, and keeps both ends in step. */
export class Client implements WireOwner {
  readonly wire: Wire
  /** The client has sent FIN. */
  ended = false
  /** The answer's last byte is followed by FIN. */
  closeAfter = false
  /** 0 for HTTP/1.0. */
  minorVersion = 1
  /** The request is HEAD: its answer has no body. */
  headOnly = false
  /** The request may become a byte pipe. */
  upgrading = false
  requestId = ''
  /** Monotonic milliseconds after which `expired` is called; 0 for none. */
  deadline = 0
  instance: Instance | null = null
  readonly peer: Peer
  #relay: Relay
  #state = IDLE
  #upstream: Upstream | null = null
  /** In place of an upstream. */
  #siteAnswer: SiteAnswer | null = null
  #destination = new Destination()
  #startedAt = 0
  #answering = false
  #requestDone = true
  /** More came in the same read as the request. */
  #followed = false
  #replayable = false
  #expectsContinue = false
  #retried = false
  #body = new Body()
  #pending = new Pending()
  #discarded = 0
  #probed = false

  constructor(relay: Relay, peer: Peer, wire: Wire) {
    this.#relay = relay
    this.peer = peer
    this.wire = wire
    wire.owner = this
    this.deadline = relay.now + HEAD_TIMEOUT_MS
  }

  /** Its answers have no chunks: HTTP/1.0 knows none, HTTP/2 has frames. */
  get knowsNoChunks(): boolean {
    return this.minorVersion === 0 || this.wire.frames
  }

  /** Seconds for which browsers shall come by TLS alone; 0 where they are not told. */
  get hstsSeconds(): number {
    return this.peer.secure ? this.#relay.routes.hstsSeconds : 0
  }

  /** A request is being answered by an instance or from a site. */
  get answering(): boolean {
    return this.instance !== null || this.#siteAnswer !== null
  }

  /** It waits for a request, of which nothing has come yet. */
  get idle(): boolean {
    return this.#state === IDLE && this.#pending.length === 0
  }

  onRead(input: Buffer, length: number): void {
    switch (this.#state) {
      case IDLE:
        return this.#readHeads(input, length)
      case BODY:
        return this.#stash(input, this.#readBody(input, 0, length), length)
      case WAIT:
        return this.#stash(input, 0, length)
      case TUNNEL:
        if (this.deadline !== 0) this.deadline = this.#relay.now + HALF_CLOSED_TIMEOUT_MS
        return this.#upstream!.wire.relay(input, 0, length, this.wire)
      case DISCARD:
        this.#stash(input, this.#discard(input, 0, length), length)
        return this.#continue()
    }
  }

  onDrain(): void {
    this.#siteAnswer?.onDrain()
    this.#continue()
  }

  onEnd(): void {
    this.ended = true
    switch (this.#state) {
      case BODY:
        this.#left()
        return this.wire.destroy()
      case WAIT:
        this.deadline = this.#relay.now + HALF_CLOSED_TIMEOUT_MS
        return
      case TUNNEL:
        this.deadline = this.#relay.now + HALF_CLOSED_TIMEOUT_MS
        return this.#upstream!.wire.end()
      default:
        if (this.#pending.length > 0 && this.#state === IDLE && this.wire.pending) return
        return this.wire.end()
    }
  }

  onClose(): void {
    this.#left()
    this.#state = CLOSED
    this.#pending.clear()
    this.#relay.forget(this)
  }

  // --- requests in

  #readHeads(input: Buffer, length: number): void {
    const before = this.#pending.length
    if (before === 0) return this.#process(input, 0, length)
    this.#pending.add(input, 0, length)
    if (this.wire.pending) {
      if (this.#pending.full) this.wire.pause()
      return
    }
    if (this.#pending.mayBeDecided(before)) this.#continue()
  }

  /** Goes on with bytes that waited, when nothing stands against it. */
  #continue(): void {
    if (this.#state !== IDLE || this.wire.pending) return
    const bytes = this.#pending.take()
    if (!bytes) return
    this.wire.resume()
    this.#process(bytes, 0, bytes.length)
    if (this.ended) this.onEnd()
  }

  #process(input: Buffer, at: number, end: number): void {
    // A loop, as answers of the relay's own to many requests in one read would else nest as deep.
    while (at < end && this.#state === IDLE && !this.wire.pending) {
      at = this.#begin(input, at, end)
    }
    this.#stash(input, at, end)
    this.#followed = false
  }

  #stash(input: Buffer, at: number, end: number): void {
    if (at >= end || this.#state >= CLOSING) return
    // A stream has one request: what follows it would be taken for the beginning of the next.
    if (this.wire.frames) return this.cut()
    this.#pending.add(input, at, end)
    if (this.#pending.full) this.wire.pause()
  }

  /** Reads one request head and starts to serve it. Answers the index after what it used. */
  #begin(input: Buffer, at: number, end: number): number {
    slab.reserve(end - at + HEAD_GROWTH_BYTES + REQUEST_ADDED_BYTES)
    request.reset()
    if (this.peer.trusted) request.forwarded = new Map()
    const result = parseRequestHead(input, at, end, slab.buffer, slab.at, request)
    const headBytes = result === COMPLETE ? request.inputEnd - at : end - at
    if (result === INCOMPLETE && headBytes <= MAX_HEAD_BYTES) return this.#await(input, at, end)
    this.#startedAt = performance.now()
    this.#answering = false
    this.#retried = false
    this.headOnly = request.method === METHOD_HEAD
    this.requestId = ''
    if (result !== COMPLETE || headBytes > MAX_HEAD_BYTES) {
      this.#destination.forget()
      this.respond(refusal(result === COMPLETE || result === INCOMPLETE ? 431 : result))
      return end
    }
    this.#describe(input)
    const from = request.inputEnd
    this.#followed = from < end
    const instance = this.#route(input)
    if (!instance) return this.#state === DISCARD ? this.#discard(input, from, end) : from
    this.#forward(instance, this.#finishHead(input))
    this.#state = this.#requestDone ? WAIT : BODY
    return this.#requestDone ? from : this.#readBody(input, from, end)
  }

  #await(input: Buffer, at: number, end: number): number {
    this.#pending.add(input, at, end)
    this.deadline = this.#relay.now + HEAD_TIMEOUT_MS
    return end
  }

  /** Takes over from the parsed head what must last as long as the request. */
  #describe(input: Buffer): void {
    this.minorVersion = request.minorVersion
    this.closeAfter = request.close || request.minorVersion === 0
    if (request.chunked) this.#body.chunked()
    else this.#body.length(Math.max(request.contentLength, 0))
    this.#requestDone = this.#body.done
    this.#replayable = this.#requestDone && request.method !== METHOD_OTHER
    this.#expectsContinue = (request.expectsContinue && request.minorVersion === 1) || request.expectsOther
    this.upgrading =
      request.upgrade && request.connectionUpgrade && this.#requestDone && request.minorVersion === 1
    if (this.#body.remaining > READ_BUFFER_BYTES) this.wire.stream(true)
    const { requestIdStart, requestIdEnd } = request
    this.requestId = requestIdStart > 0 ? latin1(input, requestIdStart, requestIdEnd) : makeRequestId()
  }

  /** Chooses the instance; answers the request itself or from a site, and null, when there is none. */
  #route(input: Buffer): Instance | null {
    const target = this.#destination.find(this.#relay.routes, request, input)
    const answer = request.method === METHOD_REFUSED ? null : this.#answerFirst(input, target)
    if (answer) {
      this.respond(answer, '')
      return null
    }
    const serving = target?.state === 'serving' ? target : null
    if (serving?.site && !request.expectsOther) return this.#serve(serving.site)
    const instance = serving?.choose(this.#startedAt, null)
    if (instance && request.method !== METHOD_REFUSED && !request.expectsOther) return instance
    this.respond(refusalOf(target), acceptOf(latin1(slab.buffer, slab.at, request.outputEnd)))
    return null
  }

  /** What a request gets before its target is asked: a proof of whose server this is, the way to TLS or to another host. */
  #answerFirst(input: Buffer, target: TargetRoute | null): Answer | null {
    const { routes, securePort } = this.#relay
    const proof = proofPath(slab.buffer, slab.at, request)
    if (proof !== null) return proofAnswer(proof, routes)
    if (target?.redirect) return canonicalRedirect(target.redirect, pathOf(slab.buffer, slab.at, request))
    // A proxy that is trusted has taken TLS off already.
    if (
      this.peer.secure ||
      !this.#destination.secured ||
      securePort === null ||
      request.forwarded?.get('x-forwarded-proto') === 'https'
    )
      return null
    const host = hostName(latin1(input, request.hostStart, request.hostEnd))
    return secureRedirect(host, securePort, pathOf(slab.buffer, slab.at, request))
  }

  #serve(site: Site): null {
    const asked = readSiteRequest(slab.buffer, slab.at, request)
    this.#state = WAIT
    this.siteSent()
    this.#siteAnswer = new SiteAnswer(this, site, this.#relay.files, asked)
    this.#siteAnswer.begin()
    return null
  }

  /** Completes the head in the slab. Answers its end. */
  #finishHead(input: Buffer): number {
    return finishRequestHead(request, input, slab.buffer, {
      peer: this.peer,
      routes: this.#relay.routes,
      requestId: this.requestId,
      upgrading: this.upgrading,
      expecting: this.#expectsContinue,
    })
  }

  #forward(instance: Instance, headEnd: number): void {
    const pooled = Upstream.take(instance, this.#startedAt)
    const upstream = pooled ?? new Upstream(instance)
    this.#attach(upstream)
    if (pooled) upstream.reuse(this)
    this.deadline = this.#answerDeadline()
    upstream.sendHead(headEnd, this)
    if (!pooled) this.#connect(upstream)
  }

  #attach(upstream: Upstream): void {
    this.#upstream = upstream
    this.instance = upstream.instance
    upstream.instance.open++
  }

  #connect(upstream: Upstream): void {
    this.deadline = this.#relay.now + CONNECT_TIMEOUT_MS
    upstream.open(this)
  }

  /** Passes on the body in `input[at, end)`. Answers the index after what belongs to it. */
  #readBody(input: Buffer, at: number, end: number): number {
    const stop = this.#body.take(input, at, end)
    this.#requestDone = this.#body.done
    if (stop < 0) {
      this.respond(refusal(400))
      return end
    }
    if (this.#requestDone) this.#state = WAIT
    this.#upstream!.send(input, at, stop, this.wire)
    this.#awaitUpstream()
    return stop
  }

  /** Sets the deadline by whose turn it is: the client's to send, or the upstream's to take and answer. */
  #awaitUpstream(): void {
    if (this.#answering) this.deadline = 0
    else if (this.#upstream?.connected === false) return
    else if (this.#state === BODY && !this.wire.paused) this.deadline = this.#relay.now + BODY_TIMEOUT_MS
    else this.deadline = this.#answerDeadline()
  }

  #answerDeadline(): number {
    return this.#relay.now + (this.ended ? HALF_CLOSED_TIMEOUT_MS : this.#relay.routes.upstreamTimeoutMs)
  }

  /** Reads the body of a request that was answered already. */
  #discard(input: Buffer, at: number, end: number): number {
    const stop = this.#body.take(input, at, end)
    this.#requestDone = this.#body.done
    this.#discarded += stop - at
    if (stop < 0 || this.#discarded > MAX_DISCARDED_BYTES) {
      this.#linger()
      return end
    }
    this.deadline = this.#relay.now + BODY_TIMEOUT_MS
    if (this.#requestDone) this.#becomeIdle()
    return stop
  }

  // --- answers out

  /** Whether the answer must say that the connection ends after it. */
  closesAfterAnswer(status: number): boolean {
    // A body that is refused half-way will not be read to its end, so nothing can come after it.
    if (this.#relay.retiring || this.#isLast() || (!this.#requestDone && status >= 300))
      this.closeAfter = true
    return this.closeAfter
  }

  /** The client has sent FIN and nothing after the request under way. */
  #isLast(): boolean {
    return this.ended && this.#pending.length === 0 && !this.#followed
  }

  /** The answer's head goes out. */
  answerBegins(status: number): void {
    this.#answering = true
    this.deadline = this.ended ? this.#relay.now + HALF_CLOSED_TIMEOUT_MS : 0
    this.#relay.countAnswer(this.#destination.target, status, performance.now() - this.#startedAt)
  }

  /** The upstream agreed to switch protocols: from here on bytes pass both ways. */
  tunnel(): void {
    this.#answering = true
    this.#state = TUNNEL
    this.deadline = 0
    this.#relay.countUpgrade(this.#destination.target)
    this.wire.keepAlive()
    this.#upstream!.wire.keepAlive()
    this.wire.resume()
    const early = this.#pending.take()
    if (early) this.#upstream!.wire.relay(early, 0, early.length, this.wire)
    if (this.ended) this.onEnd()
  }

  /** The answer is complete; `trailers` are names in lower case and values in turn. */
  finish(trailers: readonly string[] = NO_TRAILERS): void {
    const upstream = this.#detach()
    this.#siteAnswer = null
    this.wire.answered(trailers)
    if (this.#requestDone) upstream?.park(this.#relay.now)
    else upstream?.destroy()
    if (this.closeAfter || !this.#requestDone || this.#isLast()) return this.#linger()
    this.#becomeIdle()
    this.#continue()
  }

  /** The client has to take what of a site was written. */
  siteSent(): void {
    this.deadline = this.#relay.now + READER_TIMEOUT_MS
  }

  /** Answers with a page of the relay's own, in the form that the request's Accept asks for, or cuts the answer that has begun. */
  respond(answer: Answer, accept = acceptOf(this.#upstream?.keptHead() ?? '')): void {
    const json = prefersJson(accept)
    this.#detach()?.destroy()
    this.#siteAnswer = null
    if (this.#answering) {
      this.#state = CLOSING
      this.deadline = this.#relay.now + LINGER_MS
      return this.wire.reset()
    }
    const discardable =
      this.#requestDone || (!this.#expectsContinue && this.#body.remaining <= MAX_DISCARDED_BYTES)
    const close = this.closeAfter || answer.closes || this.#relay.retiring || this.#isLast() || !discardable
    const { headOnly: bodyless, requestId, hstsSeconds } = this
    const bytes = render(answer, { json, bodyless, close, requestId, hstsSeconds })
    this.#answering = true
    this.#relay.countAnswer(this.#destination.target, answer.status, performance.now() - this.#startedAt)
    this.wire.write(bytes, 0, bytes.length)
    this.wire.answered(NO_TRAILERS)
    if (close) return this.#linger()
    if (this.#requestDone) return this.#becomeIdle()
    this.#state = DISCARD
    this.#discarded = 0
    this.deadline = this.#relay.now + BODY_TIMEOUT_MS
    this.wire.resume()
  }

  #becomeIdle(): void {
    this.#state = IDLE
    this.deadline = this.#relay.now + IDLE_TIMEOUT_MS
    this.#probed = false
    this.wire.stream(false)
    this.wire.resume()
  }

  /** Ends the connection so that the answer can be read although the client still sends (RFC 9112 9.6). */
  #linger(): void {
    this.#state = CLOSING
    this.#pending.clear()
    this.deadline = this.#relay.now + LINGER_MS
    this.wire.end()
    this.wire.resume()
  }

  // --- the upstream

  /** The upstream's connection stands. */
  upstreamConnected(): void {
    this.#awaitUpstream()
  }

  /** Bytes came from the upstream while the client is half closed. */
  upstreamActive(): void {
    this.deadline = this.#relay.now + HALF_CLOSED_TIMEOUT_MS
  }

  /** The upstream's half of a tunnel has ended. */
  upstreamEnded(): void {
    this.deadline = this.#relay.now + HALF_CLOSED_TIMEOUT_MS
    this.wire.end()
  }

  /** The upstream gave something that cannot be relayed, or a site has no file to answer with. */
  refuseAnswer(answer = BAD_GATEWAY, accept?: string): void {
    this.respond(answer, accept)
    this.#continue()
  }

  /** The upstream's connection ended before the answer did. */
  upstreamGone(upstream: Upstream): void {
    if (this.#state === TUNNEL) {
      this.#detach()?.destroy()
      return this.#linger()
    }
    if (!upstream.answered && this.#retry(upstream)) return
    this.respond(BAD_GATEWAY)
    this.#continue()
  }

  /**
   * Tries once more: on another instance when this one could not be connected to, so that nothing was sent; on a new
   * connection when one from the pool died before it answered an idempotent request (RFC 9110 9.2.2).
   */
  #retry(failed: Upstream): boolean {
    const now = performance.now()
    if (!failed.connected) failed.instance.failed(now)
    if (
      this.#retried ||
      !this.#destination.target ||
      (failed.connected && !(failed.reused && this.#replayable))
    )
      return false
    const instance = this.#destination.target.choose(now, failed.connected ? null : failed.instance)
    if (!instance) return false
    this.#retried = true
    const upstream = new Upstream(instance)
    upstream.resendFrom(failed)
    this.#detach()?.destroy()
    this.#attach(upstream)
    this.#connect(upstream)
    return true
  }

  #detach(): Upstream | null {
    const upstream = this.#upstream
    if (!upstream) return null
    this.#upstream = null
    this.instance = null
    upstream.client = null
    upstream.wire.letGo()
    upstream.instance.release()
    return upstream
  }

  /** The client is gone: 499 when it did not wait for the answer. */
  #left(): void {
    const upstream = this.#detach()
    const siteAnswer = this.#siteAnswer
    this.#siteAnswer = null
    if (!upstream && !siteAnswer) return
    upstream?.destroy()
    siteAnswer?.cancel()
    if (!this.#answering) this.#relay.countLeft(this.#destination.target)
  }

  // --- time

  /** Called with each tick of the relay's clock. */
  tick(now: number): void {
    if (this.deadline !== 0 && now > this.deadline) this.#expired(now)
    if (this.#upstream && !this.#probed && now - this.#startedAt > KEEP_ALIVE_AFTER_MS) {
      this.#probed = true
      this.wire.keepAlive()
      this.#upstream.wire.keepAlive()
    }
  }

  #expired(now: number): void {
    const upstream = this.#upstream
    if (upstream?.connected === false) return this.upstreamGone(upstream)
    switch (this.#state) {
      case IDLE:
        // A slow reader still gets the answer before.
        if (this.wire.pending) {
          this.deadline = now + IDLE_TIMEOUT_MS
          return
        }
        // A lone CRLF after a request is no beginning of another.
        if (this.#pending.length <= 2) return this.cut()
        this.headOnly = false
        this.requestId = ''
        this.#startedAt = performance.now()
        this.#answering = false
        this.#destination.forget()
        return this.respond(refusal(408))
      case BODY:
        return this.respond(this.wire.paused ? GATEWAY_TIMEOUT : refusal(408))
      case WAIT:
        if (this.ended || this.#siteAnswer) return this.cut()
        this.respond(GATEWAY_TIMEOUT)
        return this.#continue()
      case CLOSING:
        // A slow reader has its answer first.
        if (this.wire.pending) this.deadline = now + LINGER_MS
        else this.cut()
        return
      default:
        return this.cut()
    }
  }

  /** Ends the connection and what it waits for at once. */
  cut(): void {
    this.#left()
    this.#state = CLOSING
    this.wire.destroy()
  }

  /** Closes a connection that waits for its next request. */
  closeIdle(): void {
    if (this.#state !== IDLE || this.#pending.length > 0) return
    if (this.wire.pending) this.#linger()
    else this.cut()
  }
}

/** Why the request in hand is not served. */
function refusalOf(target: TargetRoute | null): Answer {
  if (request.method === METHOD_REFUSED) return refusal(405)
  if (request.expectsOther) return refusal(417)
  return target ? unavailableAnswer(target.state) : NO_SUCH_HOST
}
