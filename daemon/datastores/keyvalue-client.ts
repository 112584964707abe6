import { Socket } from 'node:net'
import type { Place } from '#server/datastores/kinds.ts'
import { MAX_ANSWER_BYTES, answerTooLong } from './bounded-socket.ts'

const CR_LF = '\r\n'

/** A command that waits for its answer. */
interface WaitingCommand {
  resolve: (text: string) => void
  reject: (error: Error) => void
}

/**
 * A connection to a key-value store for one short command after another (RESP2, "Redis serialization protocol
 * specification"). The usual client library does not limit the size or time of an answer.
 */
export class KeyvalueClient {
  readonly #socket = new Socket()
  readonly #answerMs: number
  #received: Buffer = Buffer.alloc(0)
  #waiting: WaitingCommand | null = null
  #fault: Error | null = null

  private constructor(host: string, port: number, answerMs: number) {
    this.#answerMs = answerMs
    this.#socket
      .on('data', (piece: Buffer) => {
        // The limit is for one answer, because waiting for a store takes many commands.
        if (this.#received.length + piece.length > MAX_ANSWER_BYTES) return this.#fail(answerTooLong())
        this.#received = Buffer.concat([this.#received, piece])
        this.#look()
      })
      .on('error', (error) => this.#fail(error))
      .on('close', () => this.#fail(new Error('it closed the connection')))
      .connect(port, host)
  }

  /** Signs in to a store. Throws the store's error, or a timeout after `answerMs`. */
  static async open(
    { host, port, username, password }: Omit<Place, 'database'>,
    answerMs: number,
  ): Promise<KeyvalueClient> {
    const client = new KeyvalueClient(host, port, answerMs)
    try {
      await client.ask('AUTH', username, password)
      return client
    } catch (error) {
      client.close()
      throw error
    }
  }

  /** Returns the answer to a command as text. Throws the store's error. */
  async ask(...words: string[]): Promise<string> {
    if (this.#fault) throw this.#fault
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    this.#waiting = { resolve, reject }
    const timer = setTimeout(
      () => this.#fail(new Error(`it did not answer within ${this.#answerMs / 1_000} s`)),
      this.#answerMs,
    )
    this.#socket.write(encodeCommand(words))
    try {
      return await promise
    } finally {
      clearTimeout(timer)
      this.#waiting = null
    }
  }

  close(): void {
    this.#socket.destroy()
  }

  #look(): void {
    const reply = readReply(this.#received)
    if (reply === null) return
    this.#received = this.#received.subarray(reply.end)
    if (reply.isError) this.#waiting?.reject(new Error(reply.text))
    else this.#waiting?.resolve(reply.text)
  }

  #fail(error: Error): void {
    this.#fault ??= error
    this.#waiting?.reject(this.#fault)
    this.#socket.destroy()
  }
}

/** Encodes a command as an array of bulk strings. */
function encodeCommand(words: readonly string[]): string {
  const bulks = words.map((word) => `$${Buffer.byteLength(word)}${CR_LF}${word}${CR_LF}`)
  return `*${words.length}${CR_LF}${bulks.join('')}`
}

/** Returns the first reply, a simple string, error, number or bulk string; null while it is incomplete. */
function readReply(bytes: Buffer): { text: string; isError: boolean; end: number } | null {
  const lineEnd = bytes.indexOf(CR_LF)
  if (lineEnd === -1) return null
  const start = lineEnd + CR_LF.length
  const line = bytes.toString('utf8', 1, lineEnd)
  if (bytes[0] !== '$'.charCodeAt(0))
    return { text: line, isError: bytes[0] === '-'.charCodeAt(0), end: start }
  const end = start + Math.max(0, Number(line) || 0)
  if (bytes.length < end + CR_LF.length) return null
  return { text: bytes.toString('utf8', start, end), isError: false, end: end + CR_LF.length }
}
