import { decimal } from '../http1/field-values.ts'
import type { FramesHost, OutgoingFrames } from './outgoing-frames.ts'

/** Max interim answers of one request: without it, nothing would stop a service that sends more. */
const MAX_INTERIMS = 32
/** The status follows `HTTP/1.1 `. */
const STATUS_START = 9
const STATUS_DIGITS = 3
const CONTINUE = 100
const SWITCHING_PROTOCOLS = 101
const OK = 200
const RESET_CONTENT = 205
const BAD_GATEWAY = 502
/** The field would give the length of a body that is not sent. */
const NO_LENGTH = ['content-length']
/** Fields of an answer to an upgrade that HTTP/2 expresses differently (RFC 8441 5). */
const UPGRADE_FIELDS = ['sec-websocket-accept']
const NOTHING: readonly string[] = []
const END_OF_LINE = '\r\n'
const END_OF_HEAD = END_OF_LINE + END_OF_LINE

/** Sends the heads that the relay writes for HTTP/1.1 as header blocks, for one request after another. */
export class OutgoingHeads {
  /** Whether the final head was sent. */
  sent = false
  /** Whether nothing after the head is sent. */
  bodyless = false
  /** Whether the stream is to become a tunnel; until then nothing of it is read. */
  awaitsTunnel = false
  readonly #host: FramesHost
  readonly #frames: OutgoingFrames
  #interims = 0
  /** Whether the client was told to send its body. */
  #continued = false

  constructor(host: FramesHost, frames: OutgoingFrames) {
    this.#host = host
    this.#frames = frames
  }

  /** Gets ready for the next request. */
  begin(awaitsTunnel: boolean): void {
    this.sent = false
    this.bodyless = false
    this.awaitsTunnel = awaitsTunnel
    this.#interims = 0
    this.#continued = false
  }

  /** Sends the heads, of which all but the last are interim answers. Returns the index of the body. */
  send(bytes: Buffer, start: number, end: number): number {
    while (start < end && !this.sent) {
      const emptyLine = this.#sendOne(bytes, start, end)
      if (emptyLine < 0 || emptyLine >= end)
        throw new Error('the head of an answer must be written in one piece')
      start = emptyLine + END_OF_LINE.length
    }
    return start
  }

  /** Sends one head. Returns where its empty line begins. */
  #sendOne(bytes: Buffer, start: number, end: number): number {
    const statusStart = start + STATUS_START
    let status = decimal(bytes, statusStart, statusStart + STATUS_DIGITS, STATUS_DIGITS)
    let without = NOTHING
    const refusesTunnel = this.awaitsTunnel && status >= 200
    if (this.awaitsTunnel && status === SWITCHING_PROTOCOLS) {
      this.awaitsTunnel = false
      status = OK
      without = UPGRADE_FIELDS
    }
    // The client would take a 2xx for a tunnel (RFC 8441 5), and what follows for its frames.
    const isRefusal = refusesTunnel && status < 300
    if (isRefusal) status = BAD_GATEWAY
    this.bodyless = isRefusal || status === RESET_CONTENT
    if (this.bodyless) without = NO_LENGTH
    this.sent = status >= 200
    if (!this.sent && !this.#passes(status)) return endOfHead(bytes, start)
    const { encoder } = this.#host
    this.#frames.block(0, encoder.head(bytes, start, end, status, without))
    return encoder.headEnd
  }

  /**
   * Whether an interim answer is sent. Nobody misses a dropped hint, but a client that waits for 100 sends nothing without
   * it.
   */
  #passes(status: number): boolean {
    const isAwaited = status === CONTINUE && !this.#continued
    if (isAwaited) this.#continued = true
    return isAwaited || (++this.#interims <= MAX_INTERIMS && !this.#host.output.isBlocked)
  }
}

/** Returns where the empty line of the head at `start` begins; negative if there is none. */
function endOfHead(bytes: Buffer, start: number): number {
  const end = bytes.indexOf(END_OF_HEAD, start, 'latin1')
  return end < 0 ? end : end + END_OF_LINE.length
}
