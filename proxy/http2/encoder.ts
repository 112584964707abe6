import { CR, putText } from '../http1/bytes.ts'
import { MAX_HEAD_BYTES } from '../http1/head.ts'
import { WORD_BYTES, Words, copyWords } from '../http1/words.ts'
import { DynamicTable, TABLE_BYTES } from './dynamic-table.ts'
import { LITERAL, knownLine, lineEnd, type KnownLine } from './known-lines.ts'
import { STATIC_FIELDS, STATIC_NAMES, STATIC_STATUSES } from './static-table.ts'

/** A head, and two integers of three bytes more for each of its fields than HTTP/1.1 has in between. */
const ENCODED_BYTES = MAX_HEAD_BYTES + 16 * 1024
/** A text shorter than this is written faster by a loop than by a call out of JavaScript. */
const SHORT_TEXT = 24
/** Words are copied faster by a loop up to here. */
const LONG_TEXT = 200

/** Where header blocks are put together: each is copied into frames at once. */
export const encoded = Buffer.allocUnsafeSlow(ENCODED_BYTES)
const words = new Words().of(encoded)
const heads = new Words()

/** A line that the peer's table has. */
interface Sent {
  readonly id: number
  readonly size: number
}

/** Writes the header blocks of one connection (RFC 7541): a line that was sent before is a byte or two. */
export class HeaderEncoder {
  /** Numbers of the table's entries by the id of their line. */
  readonly #numbers = new Map<number, number>()
  readonly #table = new DynamicTable<Sent>(({ id }, number) => {
    if (this.#numbers.get(id) === number) this.#numbers.delete(id)
  })
  /** Sizes of the table that the peer is to be told: the least since it was told, and the present one. */
  #least = TABLE_BYTES
  #limit = TABLE_BYTES
  #at = 0
  /** Where the empty line of the head that was encoded last begins; the end of the bytes where there is none. */
  headEnd = 0

  /** The peer's table has so many bytes. */
  resize(bytes: number): void {
    this.#limit = Math.min(bytes, TABLE_BYTES)
    this.#least = Math.min(this.#least, this.#limit)
  }

  /**
   * Encodes the head of an answer as HTTP/1.1 has it, from `start` of `bytes` to its empty line, into `encoded`;
   * `status` takes the place of its own, and lines whose name is among `without` are left out. Answers the length.
   */
  head(bytes: Buffer, start: number, end: number, status: number, without: readonly string[]): number {
    this.#begin()
    const known = STATIC_STATUSES.get(status)
    if (known !== undefined) this.#integer(0x80, 7, known)
    else this.#literal(0x00, 4, ':status', String(status))
    let line: KnownLine | null = null
    // After the line of the status, and after each other.
    let at = lineEnd(bytes, start, end) + 2
    while (at < end && bytes[at] !== CR) {
      line = knownLine(line, bytes, at, end)
      const stop = line.repeats ? at + line.length : lineEnd(bytes, at + line.name.bytes, end)
      if (without.length === 0 || !without.includes(line.name.lower)) this.#line(line, bytes, at, stop)
      at = stop + 2
    }
    this.headEnd = at
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

  /** The line that stands in `bytes[at, stop)`. */
  #line(line: KnownLine, bytes: Buffer, at: number, stop: number): void {
    const { name, repeats } = line
    let pattern = name.literal
    if (pattern === LITERAL.none) return
    if (repeats) {
      const number = this.#numbers.get(line.id)
      if (number !== undefined)
        return this.#integer(0x80, 7, STATIC_FIELDS.length + 1 + this.#table.inserted - number)
      // One that takes half of the table is not worth what it pushes out.
      if (line.size > this.#table.limit / 2) pattern = LITERAL.plain
    }
    this.#integer(pattern, pattern === LITERAL.inserted ? 6 : 4, name.index)
    if (name.index === 0) this.#string(name.lower)
    this.#bytes(bytes, at + name.bytes, stop)
    if (pattern !== LITERAL.inserted) return
    this.#table.insert({ id: line.id, size: line.size })
    this.#numbers.set(line.id, this.#table.inserted)
  }

  #bytes(bytes: Uint8Array, start: number, end: number): void {
    const length = end - start
    this.#integer(0x00, 7, length)
    if (length > LONG_TEXT) encoded.set(bytes.subarray(start, end), this.#at)
    else if (length >= WORD_BYTES) copyWords(heads.of(bytes), start, end, words, this.#at)
    else for (let at = 0; at < length; at++) encoded[this.#at + at] = bytes[start + at]!
    this.#at += length
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
