import { setResponseHeader, setResponseStatus, type H3Event } from 'h3'
import { compress, encodingFor, MIN_COMPRESSED_BYTES, type Encoding } from './compression.ts'
import { Gathered } from './gathered.ts'

/**
 * Sends JSON. Only answers to reads are compressed: an answer to a change contains what the request sent next to secrets,
 * and its compressed length would reveal how much the two have in common (BREACH).
 */
export async function sendJson(event: H3Event, status: number, value: unknown): Promise<void> {
  setResponseStatus(event, status)
  const bytes = jsonBytes(value)
  const compressed = event.method === 'GET' ? (encoding: Encoding) => compress(bytes, encoding) : null
  await sendBytes(event, bytes, 'application/json', compressed)
}

/** Formats JSON; a list item by item, so that a long one is not in memory as one string too. */
export function jsonBytes(value: unknown): Buffer {
  if (!Array.isArray(value)) return Buffer.from(JSON.stringify(value))
  const gathered = new Gathered()
  gathered.add(Buffer.from('['))
  for (const [index, item] of value.entries())
    gathered.add(Buffer.from(`${index === 0 ? '' : ','}${JSON.stringify(item)}`))
  gathered.add(Buffer.from(']'))
  return gathered.bytes
}

/** A text that does not change, so that each encoding of it is computed once. */
export class ConstantText {
  readonly #bytes: Buffer
  readonly #type: string
  readonly #compressed = new Map<Encoding, Promise<Buffer>>()

  constructor(text: string | Buffer, type: string) {
    this.#bytes = typeof text === 'string' ? Buffer.from(text) : text
    this.#type = type
  }

  /** Sends the text as the whole answer. */
  async send(event: H3Event): Promise<void> {
    await sendBytes(event, this.#bytes, this.#type, (encoding) => this.#compress(encoding))
  }

  #compress(encoding: Encoding): Promise<Buffer> {
    const made = this.#compressed.get(encoding) ?? compress(this.#bytes, encoding)
    this.#compressed.set(encoding, made)
    return made
  }
}

async function sendBytes(
  event: H3Event,
  bytes: Buffer,
  type: string,
  compressed: ((encoding: Encoding) => Promise<Buffer>) | null,
): Promise<void> {
  setResponseHeader(event, 'content-type', type)
  let body = bytes
  if (compressed && bytes.length > MIN_COMPRESSED_BYTES) {
    setResponseHeader(event, 'vary', 'accept-encoding')
    const encoding = encodingFor(event.node.req.headers['accept-encoding'])
    if (encoding) {
      setResponseHeader(event, 'content-encoding', encoding)
      body = await compressed(encoding)
    }
  }
  setResponseHeader(event, 'content-length', body.length)
  event.node.res.end(body)
}
