import { isIPv6 } from 'node:net'
import { SPACE, TAB, ascii, equalsIgnoringCase, latin1 } from './bytes.ts'
import { MAX_FIELDS, type Head } from './head.ts'
import { withoutWhitespace } from './whitespace.ts'

/** A DNS name has at most 253 characters; `:65535` may follow. */
const MAX_HOST_BYTES = 260
/** If a client lists these in `Connection`, the upstream would read a different request than the relay did. */
const UNDROPPABLE = new Set(['host', 'content-length', 'transfer-encoding'])
const KEEP_ALIVE = ascii('keep-alive')
const CLOSE = ascii('close')

const COMMA = 44
const OPTION = /^[!#$%&'*+.^_`|~0-9a-z-]+$/

/**
 * Reads the options of a Connection field (RFC 9110 7.6.1); false if it is not a list of tokens, or has more than a head has
 * fields.
 */
export function connectionTokens(input: Uint8Array, start: number, end: number, head: Head): boolean {
  // The most common value, without creating a string.
  if (equalsIgnoringCase(input, start, end, KEEP_ALIVE)) return (head.keepAlive = true)
  if (equalsIgnoringCase(input, start, end, CLOSE)) return (head.close = true)
  for (let at = start, byte = 0; ;) {
    // Members may be empty: 60,000 empty ones must create nothing.
    while (at < end && ((byte = input[at]!) === COMMA || byte === SPACE || byte === TAB)) at++
    if (at === end) return true
    const from = at
    while (at < end && input[at] !== COMMA) at++
    const option = withoutWhitespace(latin1(input, from, at)).toLowerCase()
    if (++head.connectionOptions > MAX_FIELDS || !takeOption(option, head)) return false
  }
}

function takeOption(option: string, head: Head): boolean {
  if (option === 'close') head.close = true
  else if (option === 'keep-alive') head.keepAlive = true
  else if (option === 'upgrade') head.connectionUpgrade = true
  else if (UNDROPPABLE.has(option)) return true
  else if (!OPTION.test(option)) return false
  else (head.connectionNames ??= []).push(option)
  return true
}

/** Whether an Upgrade field offers HTTP/2 in clear text: that would turn into a byte pipe with unchecked requests. */
export function namesH2c(input: Uint8Array, start: number, end: number): boolean {
  return /(?:^|[\s,])h2c(?:$|[\s,/])/i.test(latin1(input, start, end))
}

/** Returns the seconds of `timeout=` in a Keep-Alive field, -1 without it. */
export function keepAliveTimeout(input: Uint8Array, start: number, end: number): number {
  const seconds = /(?:^|[\s,])timeout=(\d{1,6})(?:$|[\s,])/i.exec(latin1(input, start, end))?.[1]
  return seconds === undefined ? -1 : Number(seconds)
}

/** Returns the number in `input[start, end)`, or -1 if it does not have 1 to `digits` digits. */
export function decimal(input: Uint8Array, start: number, end: number, digits: number): number {
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

/** Whether a request id chosen by a client may be kept. */
export function isRequestId(input: Uint8Array, start: number, end: number): boolean {
  if (end === start || end - start > 128) return false
  for (let index = start; index < end; index++) if (!isHostByte(input[index]!)) return false
  return true
}
