import { CR, LF, SPACE, TARGET, TOKEN, ascii, equalsIgnoringCase, latin1 } from './bytes.ts'
import { isHost } from './field-values.ts'
import { parseFields } from './fields.ts'
import { COMPLETE, INCOMPLETE, MAX_REQUEST_LINE_BYTES, type Head } from './head.ts'

export const METHOD_OTHER = 0
export const METHOD_GET = 1
export const METHOD_HEAD = 2
/** PUT and DELETE: idempotent (RFC 9110 9.2.2). */
const METHOD_IDEMPOTENT = 3
/** CONNECT and TRACE. */
export const METHOD_REFUSED = 4
const METHOD_OPTIONS = 5

/** RFC 9112 3 asks for 501 on methods longer than any that is implemented. */
const MAX_METHOD_BYTES = 32

const VERSION = ascii('HTTP/1.')
const SCHEME = ascii('http://')
const SECURE_SCHEME = ascii('https://')
const FIRST_LINE_END = ascii(' HTTP/1.1\r\n')

const METHODS: ReadonlyMap<string, number> = new Map([
  ['GET', METHOD_GET],
  ['OPTIONS', METHOD_OPTIONS],
  ['HEAD', METHOD_HEAD],
  ['PUT', METHOD_IDEMPOTENT],
  ['DELETE', METHOD_IDEMPOTENT],
  ['CONNECT', METHOD_REFUSED],
  ['TRACE', METHOD_REFUSED],
])

/**
 * Reads a request head from `input[at, end)` and writes what is passed on to `output` from `to`: the request line in origin
 * form as HTTP/1.1 and the fields, without the empty line. Returns `COMPLETE`, `INCOMPLETE` or the status to refuse with.
 */
export function parseRequestHead(
  input: Uint8Array,
  at: number,
  end: number,
  output: Uint8Array,
  to: number,
  head: Head,
): number {
  const start = at
  // One empty line before the request line is ignored (RFC 9112 2.2).
  if (input[at] === CR) {
    if (at + 1 >= end) return INCOMPLETE
    if (input[at + 1] !== LF) return 400
    at += 2
    if (at >= end) return INCOMPLETE
  }
  let byte = 0
  const methodStart = at
  while (at < end && TOKEN[(byte = input[at]!)] === 1) {
    output[to++] = byte
    at++
    if (at - methodStart > MAX_METHOD_BYTES) return 501
  }
  if (at >= end) return INCOMPLETE
  if (byte !== SPACE || at === methodStart) return 400
  head.method = methodOf(input, methodStart, at)
  output[to++] = SPACE
  at++
  const limit = Math.min(end, start + MAX_REQUEST_LINE_BYTES)
  const targetStart = at
  while (at < limit && TARGET[(byte = input[at]!)] === 1) {
    output[to++] = byte
    at++
  }
  if (at >= limit) return limit < end ? 414 : INCOMPLETE
  if (byte !== SPACE || at === targetStart) return 400
  const targetEnd = at
  at++
  const lineEnd = version(input, at, end, head)
  if (lineEnd <= 0) return -lineEnd || INCOMPLETE
  if (lineEnd - start > MAX_REQUEST_LINE_BYTES + 2) return 414
  if (input[targetStart] !== 47) {
    const origin = originStart(input, targetStart, targetEnd, head)
    if (origin < 0) return 400
    to = putOrigin(input, origin, targetEnd, output, to - (targetEnd - targetStart))
  }
  for (let index = 0; index < FIRST_LINE_END.length; index++) output[to++] = FIRST_LINE_END[index]!
  const result = parseFields(input, lineEnd, end, output, to, head, true)
  if (result !== COMPLETE) return result
  // Both framings at once, or chunks in a version without them, are how requests are smuggled (RFC 9112 6.1).
  if (head.chunked && (head.contentLength !== -1 || head.minorVersion === 0)) return 400
  if (head.hostEnd === 0) return 400
  if (input[targetStart] !== 47 && !authorityAgrees(input, targetStart, targetEnd, head)) return 400
  return COMPLETE
}

function methodOf(input: Uint8Array, start: number, end: number): number {
  if (end - start === 3 && input[start] === 71 && input[start + 1] === 69 && input[start + 2] === 84)
    return METHOD_GET
  return METHODS.get(latin1(input, start, end)) ?? METHOD_OTHER
}

/** Reads `HTTP/1.x CRLF`. Returns the index after it, 0 if incomplete, or the negative status to refuse with. */
function version(input: Uint8Array, at: number, end: number, head: Head): number {
  for (let index = 0; index < 5; index++) {
    if (at + index >= end) return 0
    if (input[at + index] !== VERSION[index]) return -400
  }
  if (at + 8 > end) return 0
  const major = input[at + 5]! - 48
  const minor = input[at + 7]! - 48
  if (major < 0 || major > 9 || input[at + 6] !== 46 || minor < 0 || minor > 9) return -400
  if (at + 8 >= end) return 0
  if (input[at + 8] !== CR) return -400
  if (at + 9 >= end) return 0
  if (input[at + 9] !== LF) return -400
  if (major !== 1 || minor > 1) return -505
  head.minorVersion = minor
  return at + 10
}

/** Returns where the origin form begins in the target, or -1 if the method does not allow the form of the target. */
function originStart(input: Uint8Array, start: number, end: number, head: Head): number {
  // `*` is only for OPTIONS (RFC 9112 3.2.4); CONNECT and TRACE are refused whatever they name.
  if (end - start === 1 && input[start] === 42) return head.method === METHOD_OPTIONS ? start : -1
  if (head.method === METHOD_REFUSED) return start
  const authority = authorityStart(input, start, end)
  if (authority < 0) return -1
  let at = authority
  while (at < end && input[at] !== 47 && input[at] !== 63) at++
  return isHost(input, authority, at) ? at : -1
}

function authorityStart(input: Uint8Array, start: number, end: number): number {
  if (end - start > 7 && equalsIgnoringCase(input, start, start + 7, SCHEME)) return start + 7
  if (end - start > 8 && equalsIgnoringCase(input, start, start + 8, SECURE_SCHEME)) return start + 8
  return -1
}

/** Copies the origin form; an absolute target without a path becomes `/` (RFC 9112 3.2.1). */
function putOrigin(input: Uint8Array, start: number, end: number, output: Uint8Array, to: number): number {
  if (start === end || input[start] === 63) output[to++] = 47
  for (let at = start; at < end; at++) output[to++] = input[at]!
  return to
}

/** An absolute target is accepted only if its authority equals Host (RFC 9112 3.2.2). */
function authorityAgrees(input: Uint8Array, start: number, end: number, head: Head): boolean {
  if (head.method === METHOD_REFUSED || (end - start === 1 && input[start] === 42)) return true
  const authority = authorityStart(input, start, end)
  const length = head.hostEnd - head.hostStart
  const after = input[authority + length]
  if (authority + length > end || (authority + length < end && after !== 47 && after !== 63)) return false
  for (let index = 0; index < length; index++) {
    const left = input[authority + index]!
    const right = input[head.hostStart + index]!
    if (left !== right && ((left | 32) !== (right | 32) || (left | 32) < 97 || (left | 32) > 122))
      return false
  }
  return true
}
