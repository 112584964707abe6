import type { Coding } from '../compression/codings.ts'
import type { CompressedBody } from '../compression/compressed-body.ts'
import { compressAnswer } from '../compression/compress.ts'
import { Body } from '../http1/body.ts'
import { CR, LF, ascii, put } from '../http1/bytes.ts'
import type { FieldChanges } from '../http1/change-fields.ts'
import { COMPLETE, HEAD_GROWTH_BYTES, Head, INCOMPLETE, MAX_HEAD_BYTES } from '../http1/head.ts'
import { parseResponseHead } from '../http1/response-head.ts'
import { slab } from '../wire/slab.ts'
import { READ_BUFFER_BYTES } from '../wire/socket-wire.ts'
import type { Wire } from '../wire/wire.ts'
import { ADDED_BYTES, dropLines, endHead } from './answer-head.ts'

/** node's servers close an idle connection after 5 s; a request sent at that moment would be lost. */
const REUSE_MS = 4_000
/** Max time that a pool keeps a connection, even if the upstream would keep it longer. */
const MAX_REUSE_MS = 60_000
/** After so many bytes of a body of unknown length, its connection reads into a buffer of its own. */
const STREAM_AFTER_BYTES = 128 * 1024

const HEAD = 0
const BODY = 1
const TUNNEL = 2
/** All of the answer has arrived; compressed data may still have to be sent. */
const WHOLE = 3

const CONNECTION_UPGRADE = ascii('Connection: upgrade\r\n')

const response = new Head()

/** The properties of a request that matter to its answer. */
export interface AnsweredRequest {
  /** 0 for HTTP/1.0. */
  readonly minorVersion: number
  /** Whether it is HEAD: its answer has no body. */
  readonly headOnly: boolean
  /** Whether it may become a byte pipe. */
  readonly upgrading: boolean
  readonly requestId: string
  /** The coding that the client wants for the answer; `off` if compression is off for the service. */
  readonly compression: Coding | 'off'
}

/** The client of an answer. */
export interface Recipient {
  readonly wire: Wire
  readonly request: AnsweredRequest
  /** For how many seconds browsers must use only TLS; 0 omits the field. */
  readonly hstsSeconds: number
  /** How the fields of the answer change; null if they do not. */
  readonly fieldChanges: FieldChanges | null
  /** Whether the answer's last byte is followed by FIN. */
  closeAfter: boolean
  /** Whether the answer must say that the connection ends after it. */
  closesAfterAnswer(status: number): boolean
  /** The answer's head, of so many bytes, is about to be written. */
  answerBegins(status: number, headBytes: number): void
  /** The upstream agreed to switch protocols: from here on bytes pass both ways. So many have been written to the client. */
  tunnel(written: number): void
  /** The answer is complete; `trailers` alternates names in lower case and values. */
  finish(trailers?: readonly string[]): void
  /** The upstream sent something that cannot be relayed. */
  refuseAnswer(): void
}

/** Relays the answers that come over one upstream connection, one after another. */
export class AnswerRelay {
  /** Whether another request may follow over the connection. */
  keepsConnection = false
  /** How many milliseconds the connection may be idle and still be reused. */
  reuseMs = REUSE_MS
  /** The connection that the answers come from. */
  readonly #wire: Wire
  #phase = HEAD
  #body = new Body()
  /** Whether the client gets the body without chunks. */
  #strip = false
  /** If set, the body goes through this instead of directly to the client. */
  #compressed: CompressedBody | null = null
  #relayed = 0
  #partial: Buffer | null = null

  constructor(wire: Wire) {
    this.#wire = wire
  }

  /** Gets ready for the answer to the next request. */
  reset(): void {
    this.#phase = HEAD
    this.#strip = false
    this.#compressed = null
  }

  /** Stops: nobody wants the rest of the current answer. */
  drop(): void {
    this.#compressed?.drop()
  }

  /** Whether bytes pass unchanged. */
  get isTunnel(): boolean {
    return this.#phase === TUNNEL
  }

  /** The upstream has sent its last byte. That ends a body that has no other end (RFC 9112 6.3); a reset does not. */
  ended(client: Recipient): void {
    if (this.#phase === BODY && this.#body.endsWithConnection) this.#finish(client)
    this.keepsConnection = false
  }

  /** Whether all of the answer has arrived; compressed data may still have to be sent. */
  get isWhole(): boolean {
    return this.#phase === WHOLE
  }

  /** Relays what has arrived of an answer. */
  read(client: Recipient, input: Buffer, length: number): void {
    if (this.#phase === HEAD) this.#readHead(client, input, length)
    else if (this.#phase === BODY) this.#readBody(client, input, length)
    else if (this.#phase === TUNNEL) client.wire.relay(input, 0, length, this.#wire)
    else this.keepsConnection = false
  }

  #readHead(client: Recipient, read: Buffer, length: number): void {
    let input = read
    let at = 0
    if (this.#partial) {
      const piece = read.subarray(0, length)
      input = Buffer.concat([this.#partial, piece])
      length = input.length
      this.#partial = input
      // Parsing starts over each time, so a head that comes byte by byte is parsed only once per line.
      if (length <= MAX_HEAD_BYTES && !piece.includes(LF)) return
      this.#partial = null
    }
    for (;;) {
      const changed = client.fieldChanges?.added.length ?? 0
      slab.reserve(length - at + HEAD_GROWTH_BYTES + ADDED_BYTES + changed)
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
      // HTTP/1.1 passes undefined statuses; node's HTTP/2 clients do not accept them.
      if (response.status > 599 && client.wire.frames) return client.refuseAnswer()
      if (response.status === 101) return this.#switchProtocols(client, input, at, length)
      if (response.status >= 200) return this.#relayHead(client, input, at, length)
      this.#relayInterim(client)
      if (at === length) return
    }
  }

  /** Relays a 1xx to clients that know them (RFC 9110 15.2). */
  #relayInterim(client: Recipient): void {
    if (client.request.minorVersion === 0) return
    dropLines(client, response, response.status === 101, false)
    slab.buffer[response.outputEnd] = CR
    slab.buffer[response.outputEnd + 1] = LF
    if (!client.wire.writeSlab(response.outputEnd + 2)) client.wire.holdBack(this.#wire)
  }

  #switchProtocols(client: Recipient, input: Buffer, at: number, length: number): void {
    if (!client.request.upgrading || !response.upgrade) return client.refuseAnswer()
    dropLines(client, response, true, false)
    const { buffer } = slab
    let to = put(buffer, response.outputEnd, CONNECTION_UPGRADE)
    to = endHead(client, response, to, false)
    this.#phase = TUNNEL
    this.keepsConnection = false
    if (!client.wire.writeSlab(to)) client.wire.holdBack(this.#wire)
    client.wire.relay(input, at, length, this.#wire)
    client.tunnel(length - at)
  }

  #relayHead(client: Recipient, input: Buffer, at: number, length: number): void {
    this.#frame(client)
    // Even an answer without a body may announce chunks.
    dropLines(client, response, response.status === 426, response.chunked && mustNotUseChunks(client))
    if (client.request.compression !== 'off') this.#compressed = compressAnswer(client, response, this.#wire)
    if (this.#compressed) this.#strip = response.chunked
    else if (this.#body.endsWithConnection) client.closeAfter = true
    const { buffer } = slab
    let to = endHead(client, response, response.outputEnd, client.closesAfterAnswer(response.status))
    const headBytes = to - slab.at
    this.#phase = BODY
    if (this.#compressed) return this.#beginCompressed(client, this.#compressed, to, input, at, length)
    const stop = this.#body.copy(input, at, length, buffer, to, this.#strip)
    if (stop < 0) return client.refuseAnswer()
    to = this.#body.copiedTo
    client.answerBegins(response.status, headBytes)
    this.#relayed = stop - at
    const sent = client.wire.writeSlab(to)
    if (this.#body.done) {
      if (stop < length) this.keepsConnection = false
      return this.#finish(client)
    }
    if (!sent) client.wire.holdBack(this.#wire)
    if (this.#body.remaining > READ_BUFFER_BYTES) this.#wire.stream(true)
  }

  #beginCompressed(
    client: Recipient,
    compressed: CompressedBody,
    headEnd: number,
    input: Buffer,
    at: number,
    length: number,
  ): void {
    client.answerBegins(response.status, headEnd - slab.at)
    if (!client.wire.writeSlab(headEnd)) compressed.holdBack()
    this.#compress(client, compressed, input, at, length)
  }

  #compress(client: Recipient, compressed: CompressedBody, input: Buffer, at: number, length: number): void {
    const content = Buffer.allocUnsafe(length - at)
    const stop = this.#body.copy(input, at, length, content, 0, this.#strip)
    if (stop < 0) return client.refuseAnswer()
    compressed.write(content.subarray(0, this.#body.copiedTo), this.#body.done)
    if (!this.#body.done) return
    if (stop < length) this.keepsConnection = false
    this.#finish(client)
  }

  /** All of the answer has arrived. */
  #finish(client: Recipient): void {
    this.#phase = WHOLE
    if (this.#compressed) this.#compressed.end(this.#body.trailers)
    else client.finish(this.#body.trailers)
  }

  /** Decides how the body is framed (RFC 9112 6.3). */
  #frame(client: Recipient): void {
    const bodyless = client.request.headOnly || response.status === 204 || response.status === 304
    if (bodyless) this.#body.none()
    else if (response.chunked) this.#body.chunked()
    else if (response.contentLength !== -1) this.#body.length(response.contentLength)
    else this.#body.untilClose()
    this.#strip = !bodyless && response.chunked && mustNotUseChunks(client)
    this.keepsConnection = response.minorVersion === 1 && !response.close && !this.#body.endsWithConnection
    const { keepAliveSeconds } = response
    this.reuseMs = keepAliveSeconds < 0 ? REUSE_MS : Math.min(keepAliveSeconds * 1000 - 1000, MAX_REUSE_MS)
  }

  #readBody(client: Recipient, input: Buffer, length: number): void {
    if (this.#compressed) return this.#compress(client, this.#compressed, input, 0, length)
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
      return this.#finish(client)
    }
    this.#relayed += length
    if (this.#relayed > STREAM_AFTER_BYTES && !this.#strip) this.#wire.stream(true)
  }
}

/** Whether the client gets no chunks: HTTP/1.0 does not know them, and HTTP/2 has frames. */
function mustNotUseChunks({ request, wire }: Recipient): boolean {
  return request.minorVersion === 0 || wire.frames
}
