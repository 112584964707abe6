import { Socket } from 'node:net'
import type { Place } from '#server/datastores/kinds.ts'
import { MAX_HEARD_BYTES, saysTooMuch } from './bounded-socket.ts'

const CR_LF = '\r\n'

/** A question under way. */
interface Asked {
  resolve: (text: string) => void
  reject: (error: Error) => void
}

/**
 * A connection to a key-value store that asks one short question after another (RESP2, "Redis serialization protocol
 * specification"). The library for programs takes answers of any length and time.
 */
export class KeyvalueClient {
  readonly #socket = new Socket()
  readonly #answerMs: number
  #heard: Buffer = Buffer.alloc(0)
  #asked: Asked | null = null
  #fault: Error | null = null

  private constructor(host: string, port: number, answerMs: number) {
    this.#answerMs = answerMs
    this.#socket
      .on('data', (piece: Buffer) => {
        // Of one answer: whoever waits for a store to be done asks many times.
        if (this.#heard.length + piece.length > MAX_HEARD_BYTES) return this.#fail(saysTooMuch())
        this.#heard = Buffer.concat([this.#heard, piece])
        this.#look()
      })
      .on('error', (error) => this.#fail(error))
      .on('close', () => this.#fail(new Error('it closed the connection')))
      .connect(port, host)
  }

  /** Signs in to a store. Throws what it says, or that it takes longer for an answer than `answerMs`. */
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

  /** The answer to a command, as text. Throws what the store says. */
  async ask(...words: string[]): Promise<string> {
    if (this.#fault) throw this.#fault
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    this.#asked = { resolve, reject }
    const timer = setTimeout(
      () => this.#fail(new Error(`it does not answer within ${this.#answerMs / 1_000} s`)),
      this.#answerMs,
    )
    this.#socket.write(written(words))
    try {
      return await promise
    } finally {
      clearTimeout(timer)
      this.#asked = null
    }
  }

  close(): void {
    this.#socket.destroy()
  }

  #look(): void {
    const reply = readReply(this.#heard)
    if (reply === null) return
    this.#heard = this.#heard.subarray(reply.end)
    if (reply.isError) this.#asked?.reject(new Error(reply.text))
    else this.#asked?.resolve(reply.text)
  }

  #fail(error: Error): void {
    this.#fault ??= error
    this.#asked?.reject(this.#fault)
    this.#socket.destroy()
  }
}

/** An array of bulk strings. */
function written(words: readonly string[]): string {
  const bulks = words.map((word) => `$${Buffer.byteLength(word)}${CR_LF}${word}${CR_LF}`)
  return `*${words.length}${CR_LF}${bulks.join('')}`
}

/** The first reply: a simple string, an error, a number or a bulk string; null while it is not whole. */
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
