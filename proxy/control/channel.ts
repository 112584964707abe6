import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import type { WireError } from '../protocol.ts'
import { withSocketPath } from './paths.ts'

/** A table of 20,000 hosts with as many instances is about 8 MiB of JSON; a longer line is not one of our messages. */
const MAX_LINE_BYTES = 64 * 1024 * 1024
/** What is read of an error that the other side answers. */
const MAX_MESSAGE_CHARACTERS = 2_000

/** A local process accepts at once or is stuck. */
const CONNECT_TIMEOUT_MS = 2_000

/** Answers a request with its result, or throws; `text` is the JSON of the body as it came. */
export type Handler = (op: string, body: Record<string, unknown>, text: string) => unknown

/** The beginning of a request's body on the line, so that the body can be passed on unparsed. */
const BODY = ',"body":'

/** The error that the other side answered, or `closed` or `timeout` when it never answered. */
export class ChannelError extends Error {
  override readonly name = 'ChannelError'
  readonly code: WireError['code'] | 'closed' | 'timeout'
  readonly address: string | undefined

  constructor(code: ChannelError['code'], message: string, address?: string) {
    super(message)
    this.code = code
    this.address = address
  }
}

interface Waiting {
  resolve(result: unknown): void
  reject(error: Error): void
  timer: NodeJS.Timeout | undefined
}

/** One end of newline-delimited JSON over a Unix socket, or what leads to one, with requests that are answered and events that are not. */
export class Channel {
  /** Called for each event of the other side. */
  onEvent: (event: string, body: Record<string, unknown>) => void = () => {}
  /** Called once when the connection has ended, for whatever reason. */
  onClose: () => void = () => {}
  readonly socket: Duplex
  #handler: Handler
  readonly #maxLineBytes: number
  #waiting = new Map<number, Waiting>()
  #nextId = 1
  #pieces: Buffer[] = []
  #piecesBytes = 0
  #closed = false

  /** A line that is longer than `maxLineBytes` ends the connection. */
  constructor(socket: Duplex, handler: Handler, maxLineBytes = MAX_LINE_BYTES) {
    this.socket = socket
    this.#handler = handler
    this.#maxLineBytes = maxLineBytes
    socket.on('data', (data: Buffer) => this.#read(data))
    socket.on('error', () => {})
    socket.on('close', () => this.#end())
  }

  get closed(): boolean {
    return this.#closed
  }

  /** Sends a request and waits for its answer; text as body is its JSON. Throws `ChannelError`. */
  request(op: string, body: object | string, timeoutMs: number): Promise<unknown> {
    if (this.#closed) return Promise.reject(new ChannelError('closed', `${op}: the connection has ended`))
    const id = this.#nextId++
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id)
        reject(new ChannelError('timeout', `${op}: no answer within ${timeoutMs} ms`))
      }, timeoutMs)
      this.#waiting.set(id, { resolve, reject, timer })
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      this.socket.write(`{"id":${id},"op":${JSON.stringify(op)}${BODY}${text}}\n`)
    })
  }

  /** Sends an event; it is lost when the connection has ended. */
  event(event: string, body: object): void {
    if (!this.#closed) this.#send({ event, body })
  }

  /** Ends the connection after what was sent. */
  close(): void {
    this.socket.end()
  }

  /** Ends the connection now. */
  destroy(): void {
    this.socket.destroy()
  }

  #send(message: object): void {
    this.socket.write(`${JSON.stringify(message)}\n`)
  }

  #read(data: Buffer): void {
    let start = 0
    for (let end = data.indexOf(10); end >= 0; end = data.indexOf(10, start)) {
      this.#pieces.push(data.subarray(start, end))
      const line = Buffer.concat(this.#pieces).toString()
      this.#pieces = []
      this.#piecesBytes = 0
      start = end + 1
      this.#line(line)
    }
    if (start === data.length) return
    this.#pieces.push(data.subarray(start))
    this.#piecesBytes += data.length - start
    if (this.#piecesBytes > this.#maxLineBytes) this.destroy()
  }

  #line(line: string): void {
    let message: unknown
    try {
      message = JSON.parse(line)
    } catch {
      this.destroy()
      return
    }
    if (typeof message !== 'object' || message === null) return this.destroy()
    const { id, re, op, event, body, result, error } = message as Record<string, unknown>
    if (typeof op === 'string' && typeof id === 'number')
      void this.#answer(id, op, objectOf(body), line.slice(line.indexOf(BODY) + BODY.length, -1))
    else if (typeof event === 'string') this.onEvent(event, objectOf(body))
    else if (typeof re === 'number') this.#settle(re, result, error)
    else this.destroy()
  }

  async #answer(id: number, op: string, body: Record<string, unknown>, text: string): Promise<void> {
    try {
      const result = await this.#handler(op, body, text)
      if (!this.#closed) this.#send({ re: id, result: result ?? null })
    } catch (error) {
      if (!this.#closed) this.#send({ re: id, error: wireError(error) })
    }
  }

  #settle(id: number, result: unknown, error: unknown): void {
    const waiting = this.#waiting.get(id)
    if (!waiting) return
    this.#waiting.delete(id)
    clearTimeout(waiting.timer)
    if (error === undefined) return waiting.resolve(result)
    const { code, message, address } = objectOf(error) as Partial<WireError>
    const text = String(message).slice(0, MAX_MESSAGE_CHARACTERS)
    waiting.reject(new ChannelError(code ?? 'failed', text, address))
  }

  #end(): void {
    if (this.#closed) return
    this.#closed = true
    for (const waiting of this.#waiting.values()) {
      clearTimeout(waiting.timer)
      waiting.reject(new ChannelError('closed', 'the connection ended before the answer'))
    }
    this.#waiting.clear()
    this.onClose()
  }
}

/** Connects to a Unix socket. Throws the error of connect(2): ENOENT and ECONNREFUSED mean that no process listens. */
export function connectChannel(file: string, handler: Handler): Promise<Channel> {
  return withSocketPath(
    file,
    (path) =>
      new Promise<Channel>((resolve, reject) => {
        const socket = connect(path)
        const timer = setTimeout(() => {
          socket.destroy()
          reject(new ChannelError('timeout', `${file} does not accept connections`))
        }, CONNECT_TIMEOUT_MS)
        socket.once('connect', () => {
          clearTimeout(timer)
          socket.off('error', reject)
          resolve(new Channel(socket, handler))
        })
        socket.once('error', (error) => {
          clearTimeout(timer)
          reject(error)
        })
      }),
  )
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function wireError(error: unknown): WireError {
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof ChannelError) {
    const code = error.code === 'closed' || error.code === 'timeout' ? 'failed' : error.code
    return { code, message, ...(error.address === undefined ? {} : { address: error.address }) }
  }
  return { code: 'failed', message }
}
