import { latin1, putText } from '../http1/bytes.ts'
import { MAX_HEAD_BYTES } from '../http1/head.ts'
import { DynamicTable, ENTRY_BYTES, TABLE_BYTES } from './dynamic-table.ts'
import { STATIC_FIELDS, STATIC_NAMES, STATIC_STATUSES } from './static-table.ts'

/** Fields about a connection of HTTP/1.1 have no place in HTTP/2 (RFC 9113 8.2.2). */
const CONNECTION_FIELDS = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
])
/** Values that differ from answer to answer would push those that stay out of the table. */
const CHANGING = new Set([
  'age',
  'content-length',
  'content-range',
  'date',
  'etag',
  'expires',
  'last-modified',
  'location',
  'x-request-id',
])
/** What no table on the way should hold, as its length could be guessed from what it saves (RFC 7541 7.1.3). */
const SECRET = new Set(['authorization', 'set-cookie'])
/** Spellings of names that are remembered: services use a few dozen. */
const MAX_NAMES = 1_000
/** A head, and two integers of three bytes more for each of its fields than HTTP/1.1 has in between. */
const ENCODED_BYTES = MAX_HEAD_BYTES + 16 * 1024
/** A text shorter than this is written faster by a loop than by a call out of JavaScript. */
const SHORT_TEXT = 24

/** Names in lower case by how they are spelled; empty for those that HTTP/2 has no place for. */
const names = new Map<string, string>()

/** Where header blocks are put together: each is copied into frames at once. */
export const encoded = Buffer.allocUnsafeSlow(ENCODED_BYTES)

interface Sent {
  readonly line: string
  readonly size: number
}

/** Writes the header blocks of one connection (RFC 7541): a line that was sent before is a byte or two. */
export class HeaderEncoder {
  /** Numbers of the table's entries by their line of HTTP/1.1. */
  readonly #numbers = new Map<string, number>()
  readonly #table = new DynamicTable<Sent>(({ line }, number) => {
    if (this.#numbers.get(line) === number) this.#numbers.delete(line)
  })
  /** Sizes of the table that the peer is to be told: the least since it was told, and the present one. */
  #least = TABLE_BYTES
  #limit = TABLE_BYTES
  #at = 0

  /** The peer's table has so many bytes. */
  resize(bytes: number): void {
    this.#limit = Math.min(bytes, TABLE_BYTES)
    this.#least = Math.min(this.#least, this.#limit)
  }

  /**
   * Encodes the head of an answer as HTTP/1.1 has it, from `bytes[start, end)` without its empty line, into `encoded`;
   * `status` takes the place of its own, and lines whose name is among `without` are left out. Answers the length.
   */
  head(bytes: Buffer, start: number, end: number, status: string, without: readonly string[]): number {
    this.#begin()
    const known = STATIC_STATUSES.get(status)
    if (known !== undefined) this.#integer(0x80, 7, known)
    else this.#literal(0x00, 4, ':status', status)
    const text = latin1(bytes, start, end)
    let line = text.indexOf('\r\n')
    while (line >= 0) {
      const next = text.indexOf('\r\n', line + 2)
      this.#line(text.slice(line + 2, next < 0 ? undefined : next), without)
      line = next
    }
    return this.#at
  }

  /** Encodes names in lower case and values in turn into `encoded`. Answers the length. */
  trailers(fields: readonly string[]): number {
    this.#begin()
    for (let index = 0; index < fields.length; index += 2)
      this.#literal(0x00, 4, fields[index]!, fields[index + 1]!)
    return this.#at
  }

  #begin(): void {
    this.#at = 0
    if (this.#limit === this.#table.limit && this.#least === this.#limit) return
    // RFC 7541 4.2: the smallest in between first, as the peer has evicted by it.
    if (this.#least < this.#limit) this.#integer(0x20, 5, this.#least)
    this.#integer(0x20, 5, this.#limit)
    this.#table.limit = this.#least
    this.#table.limit = this.#limit
    this.#least = this.#limit
  }

  #line(line: string, without: readonly string[]): void {
    const number = this.#numbers.get(line)
    if (number !== undefined)
      return this.#integer(0x80, 7, STATIC_FIELDS.length + 1 + this.#table.inserted - number)
    const colon = line.indexOf(':')
    const name = nameOf(line.slice(0, colon))
    if (name === '' || without.includes(name)) return
    const value = line.slice(colon + 2)
    const size = name.length + value.length + ENTRY_BYTES
    if (SECRET.has(name)) return this.#literal(0x10, 4, name, value)
    // One that takes half of the table is not worth what it pushes out.
    if (CHANGING.has(name) || size > this.#table.limit / 2) return this.#literal(0x00, 4, name, value)
    this.#literal(0x40, 6, name, value)
    // A copy: a slice would keep the whole head in memory.
    const copy = Buffer.from(line, 'latin1').toString('latin1')
    this.#table.insert({ line: copy, size })
    this.#numbers.set(copy, this.#table.inserted)
  }

  #literal(pattern: number, bits: number, name: string, value: string): void {
    const index = STATIC_NAMES.get(name) ?? 0
    this.#integer(pattern, bits, index)
    if (index === 0) this.#string(name)
    this.#string(value)
  }

  #string(text: string): void {
    this.#integer(0x00, 7, text.length)
    if (text.length < SHORT_TEXT) this.#at = putText(encoded, this.#at, text)
    else this.#at += encoded.write(text, this.#at, 'latin1')
  }

  /** RFC 7541 5.1. */
  #integer(pattern: number, bits: number, value: number): void {
    const most = (1 << bits) - 1
    if (value < most) {
      encoded[this.#at++] = pattern | value
      return
    }
    encoded[this.#at++] = pattern | most
    for (value -= most; value >= 128; value >>>= 7) encoded[this.#at++] = (value & 127) | 128
    encoded[this.#at++] = value
  }
}

function nameOf(spelling: string): string {
  const known = names.get(spelling)
  if (known !== undefined) return known
  const lower = spelling.toLowerCase()
  const name = CONNECTION_FIELDS.has(lower) ? '' : lower
  if (names.size < MAX_NAMES) names.set(Buffer.from(spelling, 'latin1').toString('latin1'), name)
  return name
}
