import type { ServerHttp2Stream } from 'node:http2'
import { NO_TRAILERS } from '../http1/body.ts'
import { READER_TIMEOUT_MS } from '../relay/waits.ts'
import { slab } from '../wire/slab.ts'
import { Wire } from '../wire/wire.ts'
import { readAnswerHead, withoutRepeats } from './answer-head.ts'

const NO_ERROR = 0
/** Statuses after which node ends the stream itself. */
const BODYLESS = new Set([204, 205, 304])
const RESET_CONTENT = 205
/** Interim answers of one request; nothing holds back who sends more. */
const MAX_INTERIMS = 32

/** Monotonic milliseconds at which a client last took something of any of its streams. */
export interface Progress {
  at: number
}

/**
 * Streams of one HTTP/2 connection, one after another, as the relay sees a connection: what the relay writes is an
 * HTTP/1.1 head and, without chunks, the body; the stream sends them as frames.
 */
export class StreamWire extends Wire {
  override readonly frames = true
  #stream: ServerHttp2Stream | null = null
  #progress: Progress
  #interims = 0
  #headSent = false
  #complete = false
  #trailers: readonly string[] = NO_TRAILERS
  /** The last piece of the body, which waits for a moment: when it turns out to be the end, its frame says so. */
  #held: Buffer | null = null
  /** Monotonic milliseconds since when something waits to be taken. */
  #pendingSince = 0
  #flush = () => {
    const held = this.#held
    this.#held = null
    if (held && this.#writable) this.#stream!.write(held, this.#written)
  }
  #written = () => {
    this.#progress.at = performance.now()
    if (!this.pending) this.drained()
  }

  /** All of a connection share `progress`. */
  constructor(progress: Progress) {
    super()
    this.#progress = progress
  }

  /** Serves a stream; the one before has closed. */
  begin(stream: ServerHttp2Stream): void {
    this.#stream = stream
    this.#interims = 0
    this.#headSent = false
    this.#complete = false
    this.#trailers = NO_TRAILERS
    this.#held = null
    // The error is told by the close that follows it.
    stream.on('error', () => {})
  }

  /** The stream has closed: without a stream to come the wire is gone. */
  leave(gone: boolean): void {
    this.#stream = null
    this.#held = null
    if (gone) this.gone()
  }

  get #open(): boolean {
    return this.#stream !== null && !this.#stream.destroyed && !this.#stream.closed
  }

  /** May have a body: node has ended the stream of HEAD before its answer, and that of 204 and 304 with it. */
  get #writable(): boolean {
    return this.#open && !this.#stream!.writableEnded
  }

  override get pending(): boolean {
    return this.#held !== null || (this.#stream?.writableLength ?? 0) > 0
  }

  override writeSlab(end: number): boolean {
    return this.write(slab.buffer, slab.at, end)
  }

  /** The bytes are copied: they go out when the turn is over. */
  override write(bytes: Buffer, start: number, end: number): boolean {
    if (!this.#open) return true
    const at = this.#headSent ? start : this.#sendHeads(bytes, start, end)
    if (at < end && this.#writable) {
      if (!this.pending) this.#pendingSince = performance.now()
      if (this.#held) this.#flush()
      else process.nextTick(this.#flush)
      this.#held = Buffer.from(bytes.subarray(at, end))
    }
    return !this.pending
  }

  override relay(input: Buffer, start: number, end: number, from: Wire | null): void {
    if (start < end && !this.write(input, start, end) && from) this.holdBack(from)
  }

  /** Sends the heads, of which all but the last are interim answers. Answers the index of the body. */
  #sendHeads(bytes: Buffer, start: number, end: number): number {
    while (start < end && !this.#headSent && this.#open) {
      const { status, fields, bodyStart } = readAnswerHead(bytes, start, end)
      this.#headSent = status >= 200
      this.#sendHead(status, fields)
      start = bodyStart
    }
    return start
  }

  #sendHead(status: number, fields: string[]): void {
    if (status < 200) return this.#sendInterim(status, fields)
    const sent = attempt(fields, (kept) => this.#respond(status, kept))
    if (!sent) this.reset()
  }

  /** A hint that is not passed on is missed by nobody. */
  #sendInterim(status: number, fields: string[]): void {
    if (++this.#interims > MAX_INTERIMS) return
    attempt(fields, (kept) => this.#stream!.additionalHeaders({ ':status': status, ...valuesByName(kept) }))
  }

  #respond(status: number, fields: readonly string[]): void {
    const stream = this.#stream!
    // Those that the head does not announce are dropped, as any recipient may (RFC 9110 6.5.1).
    const waitForTrailers = this.#writable && !BODYLESS.has(status) && names(fields, 'trailer')
    // Its length would be that of a body which is not sent.
    const kept = status === RESET_CONTENT ? without(fields, 'content-length') : fields
    stream.respond([':status', String(status), ...kept] as never, { waitForTrailers })
    if (waitForTrailers) stream.once('wantTrailers', () => sendTrailers(stream, this.#trailers))
  }

  override answered(trailers: readonly string[]): void {
    this.#complete = true
    this.#trailers = trailers
    const held = this.#held
    this.#held = null
    if (!this.#writable) return
    if (held) this.#stream!.end(held)
    else this.#stream!.end()
  }

  override stream(): void {}

  /** The connection has it from its beginning. */
  override keepAlive(): void {}

  /**
   * Ends a stream whose client takes nothing of what waits for it, nor of its other streams: those it may prefer, and
   * it is slow then, not gone. `now` is monotonic milliseconds.
   */
  tick(now: number): void {
    const since = Math.max(this.#pendingSince, this.#progress.at)
    if (this.#stream && this.pending && now - since > READER_TIMEOUT_MS) this.reset()
  }

  override end(): void {
    if (!this.#complete) this.answered(NO_TRAILERS)
  }

  /** After a whole answer this tells the client that its request need not be sent to the end (RFC 9113 8.1). */
  override destroy(): void {
    if (!this.#stream) this.gone()
    else if (!this.#complete) this.reset()
    else if (!this.#stream.closed) this.#stream.close(NO_ERROR)
  }

  override reset(): void {
    // To close it would end it first, and what was cut would look whole.
    this.#stream?.destroy(new Error('cut'))
  }

  protected override stopReading(): void {
    this.#stream?.pause()
  }

  protected override goOnReading(): void {
    this.#stream?.resume()
  }
}

/** Fields as node takes what may come more than once. */
function valuesByName(fields: readonly string[]): Record<string, string[]> {
  const headers: Record<string, string[]> = Object.create(null) as Record<string, string[]>
  for (let index = 0; index < fields.length; index += 2) {
    const values = (headers[fields[index]!] ??= [])
    values.push(fields[index + 1]!)
  }
  return headers
}

function sendTrailers(stream: ServerHttp2Stream, fields: readonly string[]): void {
  const sent = attempt(fields, (kept) => stream.sendTrailers(valuesByName(kept)))
  // The body is whole.
  if (!sent) stream.close(NO_ERROR)
}

/** Sends fields, without repeats where node refuses those that HTTP/1.1 lets pass; false when it refuses even so. */
function attempt(fields: readonly string[], send: (fields: readonly string[]) => void): boolean {
  return passes(() => send(fields)) || passes(() => send(withoutRepeats(fields)))
}

function passes(send: () => void): boolean {
  try {
    send()
    return true
  } catch {
    return false
  }
}

function names(fields: readonly string[], name: string): boolean {
  return fields.some((field, index) => index % 2 === 0 && field === name)
}

function without(fields: readonly string[], name: string): string[] {
  return fields.filter((_field, index) => fields[index - (index % 2)] !== name)
}
