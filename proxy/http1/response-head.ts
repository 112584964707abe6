import { CR, LF, SPACE, VALUE } from './bytes.ts'
import { parseFields } from './fields.ts'
import { COMPLETE, INCOMPLETE, type Head } from './head.ts'

/**
 * Reads a response head from `input[at, end)` and writes what is passed on to `output` from `to`, without the empty line.
 * Returns `COMPLETE`, `INCOMPLETE`, or another number if the upstream does not speak an HTTP/1.1 that can be relayed.
 */
export function parseResponseHead(
  input: Uint8Array,
  at: number,
  end: number,
  output: Uint8Array,
  to: number,
  head: Head,
): number {
  // "HTTP/1.x nnn"
  if (end - at < 12) return startsRight(input, at, end) ? INCOMPLETE : 502
  if (!startsRight(input, at, at + 12)) return 502
  head.minorVersion = input[at + 7]! - 48
  head.status = (input[at + 9]! - 48) * 100 + (input[at + 10]! - 48) * 10 + (input[at + 11]! - 48)
  if (head.status < 100 || head.status > 999) return 502
  for (let index = 0; index < 12; index++) output[to++] = input[at + index]!
  output[to - 5] = 49
  at += 12
  if (at >= end) return INCOMPLETE
  // Some servers omit the space before an empty reason; the client gets one (RFC 9112 4).
  if (input[at] !== SPACE && input[at] !== CR) return 502
  output[to++] = SPACE
  if (input[at] === SPACE) at++
  while (at < end && VALUE[input[at]!] === 1) output[to++] = input[at++]!
  if (at >= end) return INCOMPLETE
  if (input[at] !== CR) return 502
  if (at + 1 >= end) return INCOMPLETE
  if (input[at + 1] !== LF) return 502
  output[to++] = CR
  output[to++] = LF
  const result = parseFields(input, at + 2, end, output, to, head, false)
  if (result > COMPLETE) return 502
  if (result === COMPLETE && head.chunked && (head.contentLength !== -1 || head.minorVersion === 0))
    return 502
  return result
}

const EXPECTED = 'HTTP/1.n nnn'

function startsRight(input: Uint8Array, at: number, end: number): boolean {
  for (let index = 0; at + index < end; index++) {
    const byte = input[at + index]!
    const expected = EXPECTED.charCodeAt(index)
    if (expected !== 110) {
      if (byte !== expected) return false
    } else if (index === 7 ? byte !== 48 && byte !== 49 : byte < 48 || byte > 57) return false
  }
  return true
}
