import { isIPv6 } from 'node:net'
import { SPACE, TAB, TOKEN, VALUE, LF, CR, FOLDED, equalsFolded, equalsIgnoringCase, ascii } from './bytes.ts'

/** A request line longer than this is refused with 414. */
export const MAX_REQUEST_LINE_BYTES = 8 * 1024
/** A head longer than this, request line included, is refused with 431. */
export const MAX_HEAD_BYTES = 64 * 1024
/** More fields than this are refused with 431. */
const MAX_FIELDS = 100
/** A name in DNS has at most 253 characters; `:65535` comes after it. */
const MAX_HOST_BYTES = 260
/** 15 digits stay below 2^53. */
const MAX_LENGTH_DIGITS = 15

/** The parse result when the head is not complete yet. */
export const INCOMPLETE = -1
/** The parse result of a good head; any other positive number is the status to refuse it with. */
export const COMPLETE = 0

/** Room that a head may grow by when it is copied: a space after each colon. */
export const HEAD_GROWTH_BYTES = 4 * 1024

const DROPPED = 1
const HOST = 2
const CONTENT_LENGTH = 3
const TRANSFER_ENCODING = 4
const CONNECTION = 5
const UPGRADE = 6
const EXPECT = 7
const REQUEST_ID = 8
const FORWARDED_FIELD = 9
const FORWARDED = 10
const KEEP_ALIVE = 11

const NAMES = {
  te: ascii('te'),
  host: ascii('host'),
  expect: ascii('expect'),
  upgrade: ascii('upgrade'),
  connection: ascii('connection'),
  keepAlive: ascii('keep-alive'),
  forwarded: ascii('forwarded'),
  realIp: ascii('x-real-ip'),
  requestId: ascii('x-request-id'),
  contentLength: ascii('content-length'),
  http2Settings: ascii('http2-settings'),
  forwardedPrefix: ascii('x-forwarded-'),
  proxyConnection: ascii('proxy-connection'),
  transferEncoding: ascii('transfer-encoding'),
}
/** A client that lists these in `Connection` would have the upstream read another request than the relay did. */
const UNDROPPABLE = new Set(['host', 'content-length', 'transfer-encoding'])
const CHUNKED = ascii('chunked')
const CLOSE = ascii('close')
const CONTINUE = ascii('100-continue')

/** One parsed head. One object serves all connections: what must outlive the next parse is copied out at once. */
export class Head {
  /** Index in the output after the last copied line. */
  outputEnd = 0
  /** Index in the input after the empty line. */
  inputEnd = 0
  minorVersion = 1
  status = 0
  /** Kind of the method, see `request-head.ts`. */
  method = 0
  /** -1 without Content-Length. */
  contentLength = -1
  chunked = false
  close = false
  keepAlive = false
  /** `Connection` names `upgrade`. */
  connectionUpgrade = false
  /** An `Upgrade` field that does not name h2c was copied. */
  upgrade = false
  expectsContinue = false
  /** An expectation that nobody can meet: 417. */
  expectsOther = false
  hostStart = 0
  hostEnd = 0
  /** The value of X-Request-Id in the input; start 0 without one; -1 when it may not be kept. */
  requestIdStart = 0
  requestIdEnd = 0
  /** Seconds of `Keep-Alive: timeout=`, -1 without. */
  keepAliveSeconds = -1
  /** Names other than close, keep-alive and upgrade that `Connection` lists, in lower case. */
  connectionNames: string[] | null = null
  /** Values of `X-Forwarded-*` by folded name; collected only from trusted peers. */
  forwarded: Map<string, string> | null = null
  /** Offsets in the output of each kept line and of the end of its name, for the rare second pass. */
  readonly lineStarts = new Int32Array(MAX_FIELDS + 1)
  readonly nameEnds = new Int32Array(MAX_FIELDS + 1)
  lines = 0

  reset(): void {
    this.outputEnd = 0
    this.inputEnd = 0
    this.minorVersion = 1
    this.status = 0
    this.method = 0
    this.contentLength = -1
    this.chunked = false
    this.close = false
    this.keepAlive = false
    this.connectionUpgrade = false
    this.upgrade = false
    this.expectsContinue = false
    this.expectsOther = false
    this.hostStart = 0
    this.hostEnd = 0
    this.requestIdStart = 0
    this.requestIdEnd = 0
    this.keepAliveSeconds = -1
    this.connectionNames = null
    this.forwarded = null
    this.lines = 0
  }
}

/**
 * Reads the fields from `at`, which is the start of a line, and copies those that pass to `output` at `to`, all in one
 * pass. Fills `head`; answers `COMPLETE`, `INCOMPLETE` or the status to refuse with (400 for whatever is malformed:
 * the caller of a response makes 502 of it).
 */
export function parseFields(
  input: Uint8Array,
  at: number,
  end: number,
  output: Uint8Array,
  to: number,
  head: Head,
  request: boolean,
): number {
  let fields = 0
  for (;;) {
    if (at >= end) return INCOMPLETE
    let byte = input[at]!
    if (byte === CR) {
      if (at + 1 >= end) return INCOMPLETE
      if (input[at + 1] !== LF) return 400
      head.inputEnd = at + 2
      head.outputEnd = to
      return COMPLETE
    }
    if (++fields > MAX_FIELDS) return 431
    const lineStart = to
    const nameStart = at
    while (at < end && TOKEN[(byte = input[at]!)] === 1) {
      output[to++] = byte
      at++
    }
    if (at >= end) return INCOMPLETE
    // No empty name, no space before the colon (RFC 9112 5.1), no folded line (5.2).
    if (byte !== 58 || at === nameStart) return 400
    const nameEnd = at
    const outputNameEnd = to
    output[to++] = 58
    output[to++] = SPACE
    at++
    while (at < end && ((byte = input[at]!) === SPACE || byte === TAB)) at++
    const valueStart = at
    const outputValue = to
    while (at < end && VALUE[(byte = input[at]!)] === 1) {
      output[to++] = byte
      at++
    }
    if (at >= end) return INCOMPLETE
    if (byte !== CR) return 400
    if (at + 1 >= end) return INCOMPLETE
    if (input[at + 1] !== LF) return 400
    at += 2
    // White space after a value is not part of it (RFC 9112 5.1); not every upstream knows that of `chunked` and a tab.
    while (to > outputValue && ((byte = output[to - 1]!) === SPACE || byte === TAB)) to--
    const valueEnd = valueStart + to - outputValue
    output[to++] = CR
    output[to++] = LF
    const kind = kindOf(input, nameStart, nameEnd, request)
    if (kind !== 0) {
      const verdict = special(kind, input, nameStart, nameEnd, valueStart, valueEnd, head, request)
      if (verdict > KEEP) return verdict
      if (verdict === DROP) {
        to = lineStart
        continue
      }
      // Whoever compares letter by letter shall find the same framing.
      if (kind === TRANSFER_ENCODING) output.set(CHUNKED, outputValue)
    }
    head.lineStarts[head.lines] = lineStart
    head.nameEnds[head.lines++] = outputNameEnd
  }
}

const DROP = 0
const KEEP = 1

/** Deals with a field that means something to the relay. Answers DROP, KEEP or the status to refuse with. */
function special(
  kind: number,
  input: Uint8Array,
  nameStart: number,
  nameEnd: number,
  start: number,
  end: number,
  head: Head,
  request: boolean,
): number {
  // `Content_Length` is no length to us and could be one to an upstream: it does not pass.
  for (let index = nameStart; index < nameEnd; index++) if (input[index] === 95) return DROP
  switch (kind) {
    case HOST:
      if (head.hostEnd !== 0 || !isHost(input, start, end)) return 400
      head.hostStart = start
      head.hostEnd = end
      return KEEP
    case CONTENT_LENGTH:
      // Also refuses lists and repeated lengths, which RFC 9112 6.3 allows to refuse even when they agree.
      if (head.contentLength !== -1) return 400
      head.contentLength = decimal(input, start, end, MAX_LENGTH_DIGITS)
      if (head.contentLength === -1) return 400
      return request || lengthAllowed(head.status) ? KEEP : DROP
    case TRANSFER_ENCODING:
      if (head.chunked || start === end) return 400
      if (!equalsIgnoringCase(input, start, end, CHUNKED)) return request ? 501 : 400
      // Allowed, but no coding to llhttp and others: it is written to hide the coding from one of two readers.
      for (let at = end; input[at] !== CR; at++) if (input[at] === TAB) return 400
      head.chunked = true
      return request || lengthAllowed(head.status) ? KEEP : DROP
    case CONNECTION:
      return connectionTokens(input, start, end, head) ? DROP : 400
    case UPGRADE:
      if (head.upgrade || start === end || namesH2c(input, start, end)) return DROP
      head.upgrade = true
      return KEEP
    case EXPECT:
      if (equalsIgnoringCase(input, start, end, CONTINUE)) head.expectsContinue = true
      else head.expectsOther = true
      return KEEP
    case REQUEST_ID:
      if (!request) {
        head.requestIdStart = start
        return KEEP
      }
      head.requestIdStart = head.requestIdStart === 0 && isRequestId(input, start, end) ? start : -1
      head.requestIdEnd = end
      return DROP
    case FORWARDED_FIELD:
      if (head.forwarded) collect(head.forwarded, input, nameStart, nameEnd, start, end)
      return DROP
    case FORWARDED:
      return head.forwarded ? KEEP : DROP
    case KEEP_ALIVE:
      head.keepAliveSeconds = keepAliveTimeout(input, start, end)
      return DROP
    default:
      return DROP
  }
}

/** 1xx and 204 have no body and may not announce one (RFC 9110 8.6, RFC 9112 6.1). */
function lengthAllowed(status: number): boolean {
  return status >= 200 && status !== 204
}

function kindOf(input: Uint8Array, start: number, end: number, request: boolean): number {
  const length = end - start
  if (
    request &&
    length >= 12 &&
    FOLDED[input[start]!] === 120 &&
    equalsFolded(input, start, start + 12, NAMES.forwardedPrefix)
  ) {
    return FORWARDED_FIELD
  }
  switch (length) {
    case 2:
      return equalsFolded(input, start, end, NAMES.te) ? DROPPED : 0
    case 4:
      return request && equalsFolded(input, start, end, NAMES.host) ? HOST : 0
    case 6:
      return request && equalsFolded(input, start, end, NAMES.expect) ? EXPECT : 0
    case 7:
      return equalsFolded(input, start, end, NAMES.upgrade) ? UPGRADE : 0
    case 9:
      if (!request) return 0
      if (equalsFolded(input, start, end, NAMES.forwarded)) return FORWARDED
      return equalsFolded(input, start, end, NAMES.realIp) ? DROPPED : 0
    case 10:
      if (equalsFolded(input, start, end, NAMES.connection)) return CONNECTION
      return equalsFolded(input, start, end, NAMES.keepAlive) ? KEEP_ALIVE : 0
    case 12:
      return equalsFolded(input, start, end, NAMES.requestId) ? REQUEST_ID : 0
    case 14:
      if (equalsFolded(input, start, end, NAMES.contentLength)) return CONTENT_LENGTH
      return equalsFolded(input, start, end, NAMES.http2Settings) ? DROPPED : 0
    case 16:
      return equalsFolded(input, start, end, NAMES.proxyConnection) ? DROPPED : 0
    case 17:
      return equalsFolded(input, start, end, NAMES.transferEncoding) ? TRANSFER_ENCODING : 0
    default:
      return 0
  }
}

/** Reads the options of a Connection field (RFC 9110 7.6.1); false when it is no list of tokens. */
function connectionTokens(input: Uint8Array, start: number, end: number, head: Head): boolean {
  // What nearly every one says, without a string made of it.
  if (equalsIgnoringCase(input, start, end, NAMES.keepAlive)) return (head.keepAlive = true)
  if (equalsIgnoringCase(input, start, end, CLOSE)) return (head.close = true)
  for (const part of latin1(input, start, end).split(',')) {
    const name = part.trim().toLowerCase()
    if (name === '') continue
    if (name === 'close') head.close = true
    else if (name === 'keep-alive') head.keepAlive = true
    else if (name === 'upgrade') head.connectionUpgrade = true
    else if (UNDROPPABLE.has(name)) continue
    else if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name)) return false
    else (head.connectionNames ??= []).push(name)
  }
  return true
}

/** Whether an Upgrade field offers HTTP/2 in clear text: in a byte pipe it would pass requests that nobody has checked. */
function namesH2c(input: Uint8Array, start: number, end: number): boolean {
  return /(?:^|[\s,])h2c(?:$|[\s,/])/i.test(latin1(input, start, end))
}

function keepAliveTimeout(input: Uint8Array, start: number, end: number): number {
  const seconds = /(?:^|[\s,])timeout=(\d{1,6})(?:$|[\s,])/i.exec(latin1(input, start, end))?.[1]
  return seconds === undefined ? -1 : Number(seconds)
}

function collect(
  into: Map<string, string>,
  input: Uint8Array,
  nameStart: number,
  nameEnd: number,
  start: number,
  end: number,
): void {
  const name = latin1(input, nameStart, nameEnd).toLowerCase()
  const value = latin1(input, start, end)
  const earlier = into.get(name)
  into.set(name, earlier === undefined ? value : `${earlier}, ${value}`)
}

/** The number in `input[start, end)`, -1 when it is not made of 1 to `digits` digits. */
function decimal(input: Uint8Array, start: number, end: number, digits: number): number {
  if (end === start || end - start > digits) return -1
  let value = 0
  for (let index = start; index < end; index++) {
    const digit = input[index]! - 48
    if (digit < 0 || digit > 9) return -1
    value = value * 10 + digit
  }
  return value
}

/** Whether `input[start, end)` is a host name, an IPv4 address or an IPv6 address in brackets, with or without a port. */
export function isHost(input: Uint8Array, start: number, end: number): boolean {
  if (end === start || end - start > MAX_HOST_BYTES) return false
  let at = start
  if (input[at] === 91) {
    at++
    while (at < end && (isHexadecimal(input[at]!) || input[at] === 58 || input[at] === 46)) at++
    if (at >= end || input[at] !== 93 || !isIPv6(latin1(input, start + 1, at))) return false
    at++
  } else {
    while (at < end && isHostByte(input[at]!)) at++
    if (at === start) return false
  }
  if (at === end) return true
  return input[at] === 58 && decimal(input, at + 1, end, 5) >= 0 && decimal(input, at + 1, end, 5) <= 65535
}

function isHostByte(byte: number): boolean {
  const lower = byte | 32
  return (
    (lower >= 97 && lower <= 122) || (byte >= 48 && byte <= 57) || byte === 45 || byte === 46 || byte === 95
  )
}

function isHexadecimal(byte: number): boolean {
  const lower = byte | 32
  return (byte >= 48 && byte <= 57) || (lower >= 97 && lower <= 102)
}

function isRequestId(input: Uint8Array, start: number, end: number): boolean {
  if (end === start || end - start > 128) return false
  for (let index = start; index < end; index++) if (!isHostByte(input[index]!)) return false
  return true
}

/** Every Buffer's method behind `toString('latin1')`, without the work of choosing it. */
interface Latin1Reader {
  latin1Slice(start: number, end: number): string
}

/** The text of `input[start, end)`, a byte a character. */
export function latin1(input: Uint8Array, start: number, end: number): string {
  return (input as unknown as Latin1Reader).latin1Slice(start, end)
}

/** Takes the lines with one of these lower case names out of `output`. */
export function dropNamedLines(output: Uint8Array, head: Head, names: readonly string[]): void {
  const { lineStarts, nameEnds } = head
  let shift = 0
  let kept = 0
  for (let line = 0; line < head.lines; line++) {
    const start = lineStarts[line]! - shift
    const nameEnd = nameEnds[line]! - shift
    if (!names.includes(latin1(output, start, nameEnd).toLowerCase())) {
      lineStarts[kept] = start
      nameEnds[kept++] = nameEnd
      continue
    }
    let end = nameEnd
    while (output[end] !== LF) end++
    end++
    output.copyWithin(start, end, head.outputEnd)
    head.outputEnd -= end - start
    shift += end - start
  }
  head.lines = kept
}
