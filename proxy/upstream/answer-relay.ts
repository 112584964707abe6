import { Body } from '../http1/body.ts'
import { CR, LF, ascii, equalsIgnoringCase, put, putText } from '../http1/bytes.ts'
import {
  COMPLETE,
  HEAD_GROWTH_BYTES,
  Head,
  INCOMPLETE,
  MAX_HEAD_BYTES,
  dropNamedLines,
} from '../http1/head.ts'
import { parseResponseHead } from '../http1/response-head.ts'
import { hstsLine } from '../pages/render.ts'
import { slab } from '../wire/slab.ts'
import { READ_BUFFER_BYTES } from '../wire/socket-wire.ts'
import type { Wire } from '../wire/wire.ts'

/** node's servers close an idle connection after 5 s; one used at that moment would be lost. */
const REUSE_MS = 4_000
/** A pool holds a connection no longer than this, however long the upstream would. */
const MAX_REUSE_MS = 60_000
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

/** What matters of a request to its answer. */
export interface AnsweredRequest {
  /** 0 for HTTP/1.0. */
  readonly minorVersion: number
  /** It is HEAD: its answer has no body. */
  readonly headOnly: boolean
  /** It may become a byte pipe. */
  readonly upgrading: boolean
  readonly requestId: string
}

/** Who an answer is for. */
export interface Recipient {
  readonly wire: Wire
  readonly request: AnsweredRequest
  /** Seconds for which browsers shall come by TLS alone; 0 where they are not told. */
  readonly hstsSeconds: number
  /** The answer's last byte is followed by FIN. */
  closeAfter: boolean
  /** Whether the answer must say that the connection ends after it. */
  closesAfterAnswer(status: number): boolean
  /** The answer's head goes out. */
  answerBegins(status: number): void
  /** The upstream agreed to switch protocols: from here on bytes pass both ways. */
  tunnel(): void
  /** The answer is complete; `trailers` are names in lower case and values in turn. */
  finish(trailers?: readonly string[]): void
  /** The upstream gave something that cannot be relayed. */
  refuseAnswer(): void
}

/** Relays the answers that come over one upstream connection, one after another. */
export class AnswerRelay {
  /** Another request may follow over the connection. */
  keepsConnection = false
  /** Milliseconds for which an idle connection can be used again. */
  reuseMs = REUSE_MS
  /** Where the answers come from. */
  readonly #wire: Wire
  #phase = HEAD
  #body = new Body()
  /** The client knows no chunks. */
  #strip = false
  #relayed = 0
  #partial: Buffer | null = null

  constructor(wire: Wire) {
    this.#wire = wire
  }

  /** Waits for the answer to the next request. */
  reset(): void {
    this.#phase = HEAD
    this.#strip = false
  }

  /** Bytes pass as they come. */
  get isTunnel(): boolean {
    return this.#phase === TUNNEL
  }

  /** The answer under way is whole when its connection ends. */
  get endsWithConnection(): boolean {
    return this.#phase === BODY && this.#body.endsWithConnection
  }

  /** Relays what has come of an answer. */
  read(client: Recipient, input: Buffer, length: number): void {
    if (this.#phase === HEAD) this.#readHead(client, input, length)
    else if (this.#phase === BODY) this.#readBody(client, input, length)
    else client.wire.relay(input, 0, length, this.#wire)
  }

  #readHead(client: Recipient, read: Buffer, length: number): void {
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
  #relayInterim(client: Recipient): void {
    if (client.request.minorVersion === 0) return
    this.#dropLines(client, response.status === 101)
    slab.buffer[response.outputEnd] = CR
    slab.buffer[response.outputEnd + 1] = LF
    if (!client.wire.writeSlab(response.outputEnd + 2)) client.wire.holdBack(this.#wire)
  }

  #switchProtocols(client: Recipient, input: Buffer, at: number, length: number): void {
    if (!client.request.upgrading || !response.upgrade) return client.refuseAnswer()
    this.#dropLines(client, true)
    const { buffer } = slab
    let to = put(buffer, response.outputEnd, CONNECTION_UPGRADE)
    to = this.#endHead(client, buffer, to, false)
    this.#phase = TUNNEL
    this.keepsConnection = false
    if (!client.wire.writeSlab(to)) client.wire.holdBack(this.#wire)
    client.wire.relay(input, at, length, this.#wire)
    client.tunnel()
  }

  #relayHead(client: Recipient, input: Buffer, at: number, length: number): void {
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
      if (stop < length) this.keepsConnection = false
      return client.finish(this.#body.trailers)
    }
    if (!sent) client.wire.holdBack(this.#wire)
    if (this.#body.remaining > READ_BUFFER_BYTES && !client.wire.frames) this.#wire.stream(true)
  }

  /** Decides how the body is framed (RFC 9112 6.3). */
  #frame(client: Recipient): void {
    const bodyless = client.request.headOnly || response.status === 204 || response.status === 304
    if (bodyless) this.#body.none()
    else if (response.chunked) this.#body.chunked()
    else if (response.contentLength !== -1) this.#body.length(response.contentLength)
    else this.#body.untilClose()
    this.#strip = !bodyless && response.chunked && knowsNoChunks(client)
    this.keepsConnection = response.minorVersion === 1 && !response.close && !this.#body.endsWithConnection
    if (this.#body.endsWithConnection) client.closeAfter = true
    const { keepAliveSeconds } = response
    this.reuseMs = keepAliveSeconds < 0 ? REUSE_MS : Math.min(keepAliveSeconds * 1000 - 1000, MAX_REUSE_MS)
  }

  #dropLines(client: Recipient, keepUpgrade: boolean): void {
    let names = response.connectionNames
    if (response.upgrade && !keepUpgrade) names = [...(names ?? []), 'upgrade']
    if (this.#strip)
      names = [...(names ?? []), 'transfer-encoding', ...(client.wire.frames ? [] : ['trailer'])]
    if (names) dropNamedLines(slab.buffer, response, names)
  }

  #endHead(client: Recipient, buffer: Buffer, to: number, close: boolean): number {
    if (response.requestIdStart === 0) {
      to = putText(buffer, to, REQUEST_ID)
      to = putText(buffer, to, client.request.requestId)
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

  #readBody(client: Recipient, input: Buffer, length: number): void {
    if (this.#strip) slab.reserve(length)
    const stop = this.#strip
      ? this.#body.copy(input, 0, length, slab.buffer, slab.at, true)
      : this.#body.take(input, 0, length)
    if (stop < 0) return client.refuseAnswer()
    const complete = this.#body.done
    if (!this.#strip) client.wire.relay(input, 0, stop, complete ? null : this.#wire)
    else if (!client.wire.writeSlab(this.#body.copiedTo) && !complete) client.wire.holdBack(this.#wire)
    if (complete) {
      if (stop < length) this.keepsConnection = false
      return client.finish(this.#body.trailers)
    }
    this.#relayed += length
    if (this.#relayed > STREAM_AFTER_BYTES && !client.wire.frames) this.#wire.stream(true)
  }
}

/** Whether the copied response tells its own Strict-Transport-Security, of which there may be one (RFC 6797 7.1). */
function namesHsts(output: Buffer): boolean {
  for (let line = 0; line < response.lines; line++) {
    if (equalsIgnoringCase(output, response.lineStarts[line]!, response.nameEnds[line]!, HSTS)) return true
  }
  return false
}

/** HTTP/1.0 knows no chunks, HTTP/2 has frames. */
function knowsNoChunks({ request, wire }: Recipient): boolean {
  return request.minorVersion === 0 || wire.frames
}
