/** A field of a protobuf message: a number for varints, bytes for strings and messages. */
export interface Field {
  number: number
  value: number | Buffer
}

const VARINT = 0
const FIXED64 = 1
const BYTES = 2
const FIXED32 = 5

/**
 * The fields of a protobuf message in order (https://protobuf.dev/programming-guides/encoding/). Skips fixed-width fields.
 * Throws RangeError when the message is cut off or not protobuf.
 */
export function* readFields(message: Buffer): Generator<Field> {
  const cursor = { at: 0 }
  while (cursor.at < message.length) {
    const key = readVarint(message, cursor)
    const number = Math.floor(key / 8)
    switch (key % 8) {
      case VARINT:
        yield { number, value: readVarint(message, cursor) }
        break
      case BYTES: {
        const length = readVarint(message, cursor)
        const end = cursor.at + length
        if (end > message.length) throw new RangeError('a protobuf field is cut off')
        yield { number, value: message.subarray(cursor.at, end) }
        cursor.at = end
        break
      }
      case FIXED64:
        cursor.at += 8
        break
      case FIXED32:
        cursor.at += 4
        break
      default:
        throw new RangeError('a protobuf field has an unknown type')
    }
  }
}

/** Exact up to 2^53; the messages read here contain lengths, seconds and flags. */
function readVarint(message: Buffer, cursor: { at: number }): number {
  let value = 0
  for (let factor = 1; ; factor *= 128) {
    const byte = message[cursor.at++]
    if (byte === undefined) throw new RangeError('a protobuf number is cut off')
    value += (byte % 128) * factor
    if (byte < 128) return value
  }
}

/** Encodes a field of bytes. */
export function bytesField(number: number, value: Buffer | string): Buffer {
  const bytes = Buffer.from(value as string)
  return Buffer.concat([bytesStart(number, bytes.length), bytes])
}

/** Encodes the beginning of a field of so many bytes, which follow it. */
export function bytesStart(number: number, length: number): Buffer {
  return Buffer.concat([varint(number * 8 + BYTES), varint(length)])
}

/** Encodes a field with an integer. */
export function numberField(number: number, value: number): Buffer {
  return Buffer.concat([varint(number * 8 + VARINT), varint(value)])
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest])
    bytes.push((rest % 128) + 128)
  }
}
