import type { TLSSocket } from 'node:tls'
import { onTestFinished } from 'vitest'
import { HeaderDecoder } from '../../../proxy/http2/decoder.ts'
import { ERROR, FLAG, FRAME } from '../../../proxy/http2/protocol.ts'
import { secureConnection } from '../secure.ts'
import { HOST, waitFor, type ProxyStand } from '../stand.ts'

export type Fields = readonly (readonly [name: string, value: string])[]

export const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
const EMPTY = Buffer.alloc(0)
/** What the relay adds to an answer. */
const OWN_FIELDS = ['x-request-id', 'strict-transport-security']

/** The fields of a plain request. */
export const GET: Fields = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':path', '/'],
  [':authority', HOST],
]
export const POST: Fields = [[':method', 'POST'], ...GET.slice(1)]

/** A frame of a stream, or of the connection with id 0. */
export function frame(type: number, flags: number, id: number, content: Buffer | string = EMPTY): Buffer {
  const bytes = typeof content === 'string' ? Buffer.from(content, 'latin1') : content
  const header = Buffer.alloc(9)
  header.writeUIntBE(bytes.length, 0, 3)
  header[3] = type
  header[4] = flags
  header.writeUInt32BE(id, 5)
  return Buffer.concat([header, bytes])
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1')
  const length = bytes.length
  if (length < 127) return Buffer.concat([Buffer.from([length]), bytes])
  const rest: number[] = []
  for (let left = length - 127; ; left >>>= 7) {
    rest.push(left >= 128 ? (left & 127) | 128 : left)
    if (left < 128) break
  }
  return Buffer.concat([Buffer.from([127, ...rest]), bytes])
}

/** A header block without any compression. */
export function block(fields: Fields): Buffer {
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]))
}

/** A complete HEADERS; `ends` the stream unless told otherwise. */
export function headers(id: number, fields: Fields = GET, ends = true): Buffer {
  return frame(FRAME.headers, FLAG.endHeaders | (ends ? FLAG.endStream : 0), id, block(fields))
}

export function data(id: number, content: Buffer | string, ends = false): Buffer {
  return frame(FRAME.data, ends ? FLAG.endStream : 0, id, content)
}

/** A content of one number. */
export function number(value: number): Buffer {
  const content = Buffer.alloc(4)
  content.writeUInt32BE(value >>> 0)
  return content
}

/** SETTINGS with these pairs. */
export function settings(...pairs: (readonly [id: number, value: number])[]): Buffer {
  const content = Buffer.alloc(pairs.length * 6)
  pairs.forEach(([id, value], index) => {
    content.writeUInt16BE(id, index * 6)
    content.writeUInt32BE(value, index * 6 + 2)
  })
  return frame(FRAME.settings, 0, 0, content)
}

export interface Frame {
  type: number
  flags: number
  id: number
  content: Buffer
}

/** A connection on which frames are written and read as they are. */
export class RawHttp2 {
  readonly frames: Frame[] = []
  ended = false
  readonly #socket: TLSSocket
  readonly #decoder = new HeaderDecoder()
  #rest = EMPTY

  /** Opens one to the encrypted port of a stand; with `greet` it has sent the opening frames. */
  static async open(stand: ProxyStand, greet = true): Promise<RawHttp2> {
    const { port } = stand.client.bound.find(({ host }) => host === '127.0.0.2')!
    return RawHttp2.to(port, greet)
  }

  static async to(port: number, greet = true, host = '127.0.0.2'): Promise<RawHttp2> {
    const client = new RawHttp2(await secureConnection(port, { host, ALPNProtocols: ['h2'] }))
    onTestFinished(() => client.close())
    return greet ? client.send(PREFACE, settings()) : client
  }

  private constructor(socket: TLSSocket) {
    this.#socket = socket
    socket.on('data', (bytes: Buffer) => this.#read(bytes))
    socket.on('end', () => (this.ended = true))
    socket.on('close', () => (this.ended = true))
  }

  #read(bytes: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, bytes])
    while (this.#rest.length >= 9) {
      const length = this.#rest.readUIntBE(0, 3)
      if (this.#rest.length < 9 + length) return
      const [type, flags] = [this.#rest[3]!, this.#rest[4]!]
      const id = this.#rest.readUInt32BE(5)
      this.frames.push({ type, flags, id, content: Buffer.from(this.#rest.subarray(9, 9 + length)) })
      this.#rest = this.#rest.subarray(9 + length)
    }
  }

  send(...parts: (Buffer | string)[]): this {
    const bytes = parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part))
    if (!this.#socket.destroyed) this.#socket.write(Buffer.concat(bytes))
    return this
  }

  /** Stops reading, until told otherwise. */
  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  /** Waits for a frame; fails if the connection ends without it. */
  async until(found: (frame: Frame) => boolean): Promise<Frame> {
    const told = () => JSON.stringify(this.frames.map(({ type, id, flags }) => ({ type, id, flags })))
    await waitFor(() => this.ended || this.frames.some(found), told)
    const frame = this.frames.find(found)
    if (!frame) throw new Error(`the connection ended after ${told()}`)
    return frame
  }

  /** Waits for the end of the connection. */
  async end(): Promise<void> {
    await waitFor(
      () => this.ended,
      () => 'the connection is open',
    )
  }

  /** What became of a stream, or of the connection if that ended with it: `200`, `reset 1`, `goaway 9`. */
  async outcome(id: number): Promise<string> {
    const ends = ({ type, content, id: of }: Frame) =>
      (type === FRAME.goAway && content.readUInt32BE(4) !== ERROR.none) ||
      (of === id && (type === FRAME.reset || type === FRAME.headers))
    const { type, content } = await this.until(ends)
    if (type === FRAME.goAway) return `goaway ${content.readUInt32BE(4)}`
    if (type === FRAME.reset) return `reset ${content.readUInt32BE(0)}`
    return this.fieldsOf(content).get(':status')!
  }

  /** The fields of a received header block; each block is read once, in the order in which they came. */
  fieldsOf(content: Buffer): Map<string, string> {
    const fields = new Map<string, string>()
    this.#decoder.decode(content, 0, content.length, ({ name, value }) => void fields.set(name, value))
    return fields
  }

  /** Everything that came of a stream until its end, in short: `:status=200 etag="a", body end`, `:status=200, half, reset 2`. */
  async told(id: number): Promise<string> {
    const isLast = ({ type, flags }: Frame) =>
      type === FRAME.reset || (type <= FRAME.headers && (flags & FLAG.endStream) !== 0)
    await this.until((frame) => frame.id === id && isLast(frame))
    const parts = this.frames
      .filter((frame) => frame.id === id && frame.type !== FRAME.windowUpdate)
      .map(({ type, flags, content }) => {
        if (type === FRAME.reset) return `reset ${content.readUInt32BE(0)}`
        const end = (flags & FLAG.endStream) === 0 ? '' : ' end'
        if (type === FRAME.data) return content.toString('latin1') + end
        const fields = [...this.fieldsOf(content)].filter(([name]) => !OWN_FIELDS.includes(name))
        return fields.map((pair) => pair.join('=')).join(' ') + end
      })
    return parts.join(', ')
  }

  /** The received DATA of a stream. */
  body(id: number): Buffer {
    const parts = this.frames.filter((frame) => frame.type === FRAME.data && frame.id === id)
    return Buffer.concat(parts.map(({ content }) => content))
  }

  /** How much that is. */
  bytes(id: number): number {
    const parts = this.frames.filter((frame) => frame.type === FRAME.data && frame.id === id)
    return parts.reduce((sum, { content }) => sum + content.length, 0)
  }

  close(): void {
    this.#socket.destroy()
  }
}
