import { CR, putText } from '../http1/bytes.ts'
import { MAX_HEAD_BYTES } from '../http1/head.ts'
import { WORD_BYTES, Words, copyWords } from '../http1/words.ts'
import { DynamicTable, TABLE_BYTES } from './dynamic-table.ts'
import { LITERAL, knownLine, lineEnd, type KnownLine } from './known-lines.ts'
import { STATIC_FIELDS, STATIC_NAMES, STATIC_STATUSES } from './static-table.ts'

/** Room for a head; each field may take two integers, up to three bytes longer than the separators of HTTP/1.1. */
const ENCODED_BYTES = MAX_HEAD_BYTES + 16 * 1024
/** Shorter texts are written faster by a loop than by a native call. */
const SHORT_TEXT = 24
/** Up to this length, words are copied faster by a loop. */
const LONG_TEXT = 200

/** The buffer for header blocks: each is copied into frames at once. */
export const encoded = Buffer.allocUnsafeSlow(ENCODED_BYTES)
const words = new Words().of(encoded)
const heads = new Words()

/** A line that is in the peer's table. */
interface Sent {
  readonly id: number
  readonly size: number
}

/** Writes the header blocks of one connection (RFC 7541). A line that was sent before takes a byte or two. */
export class HeaderEncoder {
  /** The numbers of the table's entries, by the id of their line. */
  readonly #numbers = new Map<number, number>()
  readonly #table = new DynamicTable<Sent>(({ id }, number) => {
    if (this.#numbers.get(id) === number) this.#numbers.delete(id)
  })
  /** Table sizes that the peer must be told: the smallest since it was last told, and the current one. */
  #minLimit = TABLE_BYTES
  #limit = TABLE_BYTES
  #at = 0
  /** Where the empty line of the last encoded head begins; the end of the bytes if there is none. */
  headEnd = 0

  /** Sets the size of the peer's table. */
  resize(bytes: number): void {
    this.#limit = Math.min(bytes, TABLE_BYTES)
    this.#minLimit = Math.min(this.#minLimit, this.#limit)
  }

  /**
   * Encodes the head of an answer, written as HTTP/1.1 from `start` of `bytes` to its empty line, into `encoded`. `status`
   * replaces its own, and lines named in `without` are left out. Returns the length.
   */
  head(bytes: Buffer, start: number, end: number, status: number, without: readonly string[]): number {
    this.#begin()
    const known = STATIC_STATUSES.get(status)
    if (known !== undefined) this.#integer(0x80, 7, known)
    else this.#literal(0x00, 4, ':status', String(status))
    let line: KnownLine | null = null
    // Each step moves to the start of the next line: first past the status line.
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

  /** Encodes alternating names in lower case and values into `encoded`. Returns the length. */
  trailers(fields: readonly string[]): number {
    this.#begin()
    for (let index = 0; index < fields.length; index += 2)
      this.#literal(0x00, 4, fields[index]!, fields[index + 1]!)
    return this.#at
  }

  #begin(): void {
    this.#at = 0
    if (this.#limit === this.#table.limit && this.#minLimit === this.#limit) return
    // RFC 7541 4.2: the smallest size in between comes first, because the peer has evicted entries by it.
    if (this.#minLimit < this.#limit) this.#integer(0x20, 5, this.#minLimit)
    this.#integer(0x20, 5, this.#limit)
    this.#table.limit = this.#minLimit
    this.#table.limit = this.#limit
    this.#minLimit = this.#limit
  }

  /** Encodes the line in `bytes[at, stop)`. */
  #line(line: KnownLine, bytes: Buffer, at: number, stop: number): void {
    const { name, repeats } = line
    let pattern = name.literal
    if (pattern === LITERAL.none) return
    if (repeats) {
      const number = this.#numbers.get(line.id)
      if (number !== undefined)
        return this.#integer(0x80, 7, STATIC_FIELDS.length + 1 + this.#table.inserted - number)
      // A line that takes half of the table is not worth what it would evict.
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
    const max = (1 << bits) - 1
    if (value < max) {
      encoded[this.#at++] = pattern | value
      return
    }
    encoded[this.#at++] = pattern | max
    for (value -= max; value >= 128; value >>>= 7) encoded[this.#at++] = (value & 127) | 128
    encoded[this.#at++] = value
  }
}
