import { CR, LF, ascii, equalsIgnoringCase, put, putText } from './bytes.ts'
import { Body } from './body.ts'
import type { Client } from './client.ts'
import {
  COMPLETE,
  HEAD_GROWTH_BYTES,
  Head,
  INCOMPLETE,
  MAX_HEAD_BYTES,
  dropNamedLines,
  latin1,
} from './head.ts'
import { hstsLine } from './pages.ts'
import { parseResponseHead } from './response-head.ts'
import type { Instance } from './routes.ts'
import { slab } from './slab.ts'
import { READ_BUFFER_BYTES, SocketWire } from './socket-wire.ts'
import type { Wire, WireOwner } from './wire.ts'

/** node's servers close an idle connection after 5 s; one used at that moment would be lost. */
const REUSE_MS = 4_000
/** A pool holds a connection no longer than this, however long the upstream would. */
const MAX_REUSE_MS = 60_000
/** Idle connections to one instance that a worker keeps. */
const MAX_IDLE_CONNECTIONS = 256
/** A copy of a request larger than this is not kept with an idle connection. */
const MAX_IDLE_KEPT_BYTES = 16 * 1024
const FIRST_KEPT_BYTES = 2 * 1024
/** After this much of a body of unknown length its connection reads into a buffer of its own. */
const STREAM_AFTER_BYTES = 128 * 1024

const HEAD = 0
const BODY = 1
const TUNNEL = 2

const CONNECTION_CLOSE = ascii('Connection: close\r\n')
const CONNECTION_UPGRADE = ascii('Connection: upgrade\r\n')
const REQUEST_ID = 'X-Request-Id: '
const HSTS = ascii('strict-transport-security')
/** Room for the lines that are added to a response. */
const ADDED_BYTES = 512

const response = new Head()

/** One connection to an instance: idle in its pool, or serving one client's request. */
export class Upstream implements WireOwner {
  readonly wire = new SocketWire()
  readonly instance: Instance
  client: Client | null = null
  connected = false
  /** Served a request before: it may have been closed by the instance at any moment. */
  reused = false
  /** Something of the answer has come: the request must not be sent again. */
  answered = false
  #phase = HEAD
  #body = new Body()
  /** The client knows no chunks. */
  #strip = false
  #keep = false
  #relayed = 0
  #partial: Buffer | null = null
  #kept: Buffer = Buffer.alloc(0)
  #keptBytes = 0
  #reuseMs = REUSE_MS
  #expiresAt = 0

  constructor(instance: Instance) {
    this.instance = instance
    this.wire.owner = this
  }

  /** Takes a usable idle connection out of the instance's pool. `now` is monotonic milliseconds. */
  static take(instance: Instance, now: number): Upstream | null {
    for (let upstream = instance.idle.pop(); upstream; upstream = instance.idle.pop()) {
      if (upstream.#expiresAt > now && !upstream.wire.closed) return upstream
      upstream.destroy()
    }
    return null
  }

  /** Closes connections that idled too long. */
  static expire(instance: Instance, now: number): void {
    while (instance.idle.length > 0 && instance.idle[0]!.#expiresAt <= now) instance.idle.shift()!.destroy()
  }

  /** Starts to connect for `client`; what is sent meanwhile is kept until the connection stands. */
  open(client: Client): void {
    this.client = client
    this.wire.connect(this.instance.host, this.instance.port, () => {
      this.connected = true
      this.instance.connected()
      if (!this.client) return this.destroy()
      if (!this.wire.write(this.#kept, 0, this.#keptBytes)) {
        this.#kept = Buffer.from(this.#kept.subarray(0, this.#keptBytes))
        this.wire.holdBack(this.client.wire)
      } else this.client.wire.resume()
      this.client.upstreamConnected()
    })
  }

  /** Sends the request head that stands in the slab up to `end`. */
  sendHead(end: number, client: Client): void {
    this.#keptBytes = 0
    this.#remember(slab.buffer, slab.at, end)
    if (this.connected && !this.wire.writeSlab(end)) this.wire.holdBack(client.wire)
  }

  /** Sends a piece of the request body. */
  send(input: Buffer, start: number, end: number, from: Wire): void {
    if (this.connected) return this.wire.relay(input, start, end, from)
    this.#remember(input, start, end)
    from.pause()
  }

  /** Sends again what an upstream before was to send. */
  resendFrom(failed: Upstream): void {
    this.#kept = failed.#kept
    this.#keptBytes = failed.#keptBytes
  }

  /** The kept request head, to see what kind of page its client likes. */
  keptHead(): string {
    return latin1(this.#kept, 0, this.#keptBytes)
  }

  #remember(bytes: Buffer, start: number, end: number): void {
    const needed = this.#keptBytes + end - start
    if (this.#kept.length < needed) {
      const larger = Buffer.allocUnsafeSlow(Math.max(FIRST_KEPT_BYTES, needed))
      this.#kept.copy(larger, 0, 0, this.#keptBytes)
      this.#kept = larger
    }
    bytes.copy(this.#kept, this.#keptBytes, start, end)
    this.#keptBytes = needed
  }

  /** Begins to serve `client` on a connection from the pool. */
  reuse(client: Client): void {
    this.client = client
    this.reused = true
    this.answered = false
    this.#phase = HEAD
    this.#strip = false
  }

  /** Puts the connection into the pool, or closes it where it could not be used again. `now` as in `take`. */
  park(now: number): void {
    const { instance } = this
    if (
      !this.#keep ||
      instance.draining ||
      instance.idle.length >= MAX_IDLE_CONNECTIONS ||
      this.wire.pending
    ) {
      return this.destroy()
    }
    if (this.#kept.length > MAX_IDLE_KEPT_BYTES) this.#kept = Buffer.alloc(0)
    this.#keptBytes = 0
    this.#expiresAt = now + this.#reuseMs
    this.wire.stream(false)
    this.wire.resume()
    instance.idle.push(this)
  }

  destroy(): void {
    this.client = null
    this.wire.destroy()
  }

  onRead(input: Buffer, length: number): void {
    const client = this.client
    // Bytes that nobody asked for: an answer to a request not sent yet would be given to the wrong client.
    if (!client) return this.destroy()
    this.answered = true
    if (client.ended) client.upstreamActive()
    if (this.#phase === HEAD) this.#readHead(client, input, length)
    else if (this.#phase === BODY) this.#readBody(client, input, length)
    else client.wire.relay(input, 0, length, this.wire)
  }

  onDrain(): void {}

  cut(): void {
    const { client } = this
    this.destroy()
    client?.cut()
  }

  onEnd(): void {
    const client = this.client
    if (client && this.#phase === TUNNEL) return client.upstreamEnded()
    if (client && this.#phase === BODY && this.#body.endsWithConnection) {
      this.#keep = false
      return client.finish()
    }
    this.onClose()
  }

  onClose(): void {
    const client = this.client
    if (client) client.upstreamGone(this)
    else {
      const position = this.instance.idle.indexOf(this)
      if (position >= 0) this.instance.idle.splice(position, 1)
    }
    this.destroy()
  }

  #readHead(client: Client, read: Buffer, length: number): void {
    let input = read
    let at = 0
    if (this.#partial) {
      input = Buffer.concat([this.#partial, read.subarray(0, length)])
      length = input.length
      this.#partial = null
    }
    for (;;) {
      slab.reserve(length - at + HEAD_GROWTH_BYTES + ADDED_BYTES)
      response.reset()
      const result = parseResponseHead(input, at, length, slab.buffer, slab.at, response)
      const headBytes = result === COMPLETE ? response.inputEnd - at : length - at
      if (headBytes > MAX_HEAD_BYTES || (result !== COMPLETE && result !== INCOMPLETE))
        return client.refuseAnswer()
      if (result === INCOMPLETE) {
        this.#partial = Buffer.from(input.subarray(at, length))
        return
      }
      at = response.inputEnd
      // HTTP/1.1 passes what no one has defined; node's HTTP/2 does not.
      if (response.status > 599 && client.wire.frames) return client.refuseAnswer()
      if (response.status === 101) return this.#switchProtocols(client, input, at, length)
      if (response.status >= 200) return this.#relayHead(client, input, at, length)
      this.#relayInterim(client)
      if (at === length) return
    }
  }

  /** 1xx go to clients that know them (RFC 9110 15.2). */
  #relayInterim(client: Client): void {
    if (client.minorVersion === 0) return
    this.#dropLines(client, response.status === 101)
    slab.buffer[response.outputEnd] = CR
    slab.buffer[response.outputEnd + 1] = LF
    if (!client.wire.writeSlab(response.outputEnd + 2)) client.wire.holdBack(this.wire)
  }

  #switchProtocols(client: Client, input: Buffer, at: number, length: number): void {
    if (!client.upgrading || !response.upgrade) return client.refuseAnswer()
    this.#dropLines(client, true)
    const { buffer } = slab
    let to = put(buffer, response.outputEnd, CONNECTION_UPGRADE)
    to = this.#endHead(client, buffer, to, false)
    this.#phase = TUNNEL
    this.#keep = false
    if (!client.wire.writeSlab(to)) client.wire.holdBack(this.wire)
    client.wire.relay(input, at, length, this.wire)
    client.tunnel()
  }

  #relayHead(client: Client, input: Buffer, at: number, length: number): void {
    this.#frame(client)
    this.#dropLines(client, response.status === 426)
    const { buffer } = slab
    let to = this.#endHead(client, buffer, response.outputEnd, client.closesAfterAnswer(response.status))
    const stop = this.#body.copy(input, at, length, buffer, to, this.#strip)
    if (stop < 0) return client.refuseAnswer()
    to = this.#body.copiedTo
    client.answerBegins(response.status)
    this.#phase = BODY
    this.#relayed = stop - at
    const sent = client.wire.writeSlab(to)
    if (this.#body.done) {
      if (stop < length) this.#keep = false
      return client.finish(this.#body.trailers)
    }
    if (!sent) client.wire.holdBack(this.wire)
    if (this.#body.remaining > READ_BUFFER_BYTES && !client.wire.frames) this.wire.stream(true)
  }

  /** Decides how the body is framed (RFC 9112 6.3). */
  #frame(client: Client): void {
    const bodyless = client.headOnly || response.status === 204 || response.status === 304
    if (bodyless) this.#body.none()
    else if (response.chunked) this.#body.chunked()
    else if (response.contentLength !== -1) this.#body.length(response.contentLength)
    else this.#body.untilClose()
    this.#strip = !bodyless && response.chunked && client.knowsNoChunks
    this.#keep = response.minorVersion === 1 && !response.close && !this.#body.endsWithConnection
    if (this.#body.endsWithConnection) client.closeAfter = true
    const { keepAliveSeconds } = response
    this.#reuseMs = keepAliveSeconds < 0 ? REUSE_MS : Math.min(keepAliveSeconds * 1000 - 1000, MAX_REUSE_MS)
  }

  #dropLines(client: Client, keepUpgrade: boolean): void {
    let names = response.connectionNames
    if (response.upgrade && !keepUpgrade) names = [...(names ?? []), 'upgrade']
    if (this.#strip)
      names = [...(names ?? []), 'transfer-encoding', ...(client.wire.frames ? [] : ['trailer'])]
    if (names) dropNamedLines(slab.buffer, response, names)
  }

  #endHead(client: Client, buffer: Buffer, to: number, close: boolean): number {
    if (response.requestIdStart === 0) {
      to = putText(buffer, to, REQUEST_ID)
      to = putText(buffer, to, client.requestId)
      buffer[to++] = CR
      buffer[to++] = LF
    }
    const { hstsSeconds } = client
    if (hstsSeconds > 0 && !namesHsts(buffer)) to = putText(buffer, to, hstsLine(hstsSeconds))
    if (close) to = put(buffer, to, CONNECTION_CLOSE)
    buffer[to++] = CR
    buffer[to++] = LF
    return to
  }

  #readBody(client: Client, input: Buffer, length: number): void {
    if (this.#strip) slab.reserve(length)
    const stop = this.#strip
      ? this.#body.copy(input, 0, length, slab.buffer, slab.at, true)
      : this.#body.take(input, 0, length)
    if (stop < 0) return client.refuseAnswer()
    const complete = this.#body.done
    if (!this.#strip) client.wire.relay(input, 0, stop, complete ? null : this.wire)
    else if (!client.wire.writeSlab(this.#body.copiedTo) && !complete) client.wire.holdBack(this.wire)
    if (complete) {
      if (stop < length) this.#keep = false
      return client.finish(this.#body.trailers)
    }
    this.#relayed += length
    if (this.#relayed > STREAM_AFTER_BYTES && !client.wire.frames) this.wire.stream(true)
  }
}

/** Whether the copied response tells its own Strict-Transport-Security, of which there may be one (RFC 6797 7.1). */
function namesHsts(output: Buffer): boolean {
  for (let line = 0; line < response.lines; line++) {
    if (equalsIgnoringCase(output, response.lineStarts[line]!, response.nameEnds[line]!, HSTS)) return true
  }
  return false
}
