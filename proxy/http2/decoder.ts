import { latin1 } from '../http1/bytes.ts'
import { DynamicTable, TABLE_BYTES } from './dynamic-table.ts'
import { fieldNamed, fieldOf, type Field } from './field.ts'
import { decodeHuffman } from './huffman.ts'
import { ConnectionFault, ERROR } from './protocol.ts'
import { STATIC_FIELDS } from './static-table.ts'

/** Max length of a header block, and so of each string in it. */
export const MAX_BLOCK_BYTES = 64 * 1024
/** The shortest code word has 5 bits, so 8 bits of input become at most 8/5 characters. */
const UNPACKED_BYTES = (MAX_BLOCK_BYTES * 8) / 5
/** Max bytes of an integer after the first: enough for any table or block. */
const MAX_INTEGER_BYTES = 4

const NOTHING = new Uint8Array(0)
/** Unpacked strings, until they are read. */
let unpacked: Buffer | null = null

/** Reads the header blocks of one connection (RFC 7541). */
export class HeaderDecoder {
  readonly #table = new DynamicTable<Field>()
  #input: Uint8Array = NOTHING
  #at = 0
  #end = 0

  /** Calls `take` for each field of the block `input[start, end)`. Throws ConnectionFault if it is not a header block. */
  decode(input: Uint8Array, start: number, end: number, take: (field: Field) => void): void {
    this.#input = input
    this.#at = start
    this.#end = end
    let sized = true
    while (this.#at < end) {
      const byte = input[this.#at]!
      if (byte >= 128) take(this.#field(this.#integer(7)))
      else if (byte >= 64) take(this.#insert(this.#literal(6)))
      else if (byte < 32) take(this.#literal(4))
      // Only allowed at the beginning of a block (RFC 7541 4.2).
      else if (sized) this.#resize(this.#integer(5))
      else throw broken('a table size update within a block')
      sized = sized && byte < 64 && byte >= 32
    }
  }

  #insert(field: Field): Field {
    this.#table.insert(field)
    return field
  }

  #resize(bytes: number): void {
    if (bytes > TABLE_BYTES) throw broken('a table size above the limit')
    this.#table.limit = bytes
  }

  #field(index: number): Field {
    const field =
      index <= STATIC_FIELDS.length
        ? STATIC_FIELDS[index - 1]
        : this.#table.get(index - STATIC_FIELDS.length - 1)
    if (!field) throw broken(`no field with index ${index}`)
    return field
  }

  /** Reads a field whose name is an index of so many bits, or a string like its value. */
  #literal(bits: number): Field {
    const index = this.#integer(bits)
    return index === 0
      ? fieldOf(this.#string(), this.#string())
      : fieldNamed(this.#field(index), this.#string())
  }

  #string(): string {
    const packed = this.#at < this.#end && this.#input[this.#at]! >= 128
    const length = this.#integer(7)
    const start = this.#at
    const end = start + length
    if (end > this.#end) throw broken('a string that is longer than its block')
    this.#at = end
    if (!packed) return latin1(this.#input, start, end)
    unpacked ??= Buffer.allocUnsafeSlow(UNPACKED_BYTES)
    const unpackedLength = decodeHuffman(this.#input, start, end, unpacked)
    if (unpackedLength < 0) throw broken('a string with an invalid Huffman code')
    return latin1(unpacked, 0, unpackedLength)
  }

  /** Reads an integer that begins with so many bits of the first byte (RFC 7541 5.1). */
  #integer(bits: number): number {
    if (this.#at >= this.#end) throw broken('a truncated block')
    const max = (1 << bits) - 1
    let value = this.#input[this.#at++]! & max
    if (value < max) return value
    for (let shift = 0; shift < 7 * MAX_INTEGER_BYTES; shift += 7) {
      if (this.#at >= this.#end) throw broken('a truncated block')
      const byte = this.#input[this.#at++]!
      value += (byte & 127) << shift
      if (byte < 128) return value
    }
    throw broken('an integer with too many bytes')
  }
}

function broken(message: string): ConnectionFault {
  return new ConnectionFault(ERROR.compression, message)
}
