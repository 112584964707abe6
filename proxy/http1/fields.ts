import { CR, LF, SPACE, TAB, TOKEN, VALUE, ascii, equalsIgnoringCase, latin1 } from './bytes.ts'
import {
  CLAIM,
  CONNECTION,
  CONTENT_LENGTH,
  EXPECT,
  FORWARDED_FIELD,
  HOST,
  KEEP_ALIVE,
  REQUEST_ID,
  TRANSFER_ENCODING,
  UPGRADE,
  kindOf,
} from './field-kinds.ts'
import { connectionTokens, decimal, isHost, isRequestId, keepAliveTimeout, namesH2c } from './field-values.ts'
import { COMPLETE, INCOMPLETE, MAX_ANSWER_FIELDS, MAX_FIELDS, type Head } from './head.ts'
import { KnownFields } from './known-fields.ts'

/** Numbers of 15 digits are below 2^53. */
const MAX_LENGTH_DIGITS = 15

const CHUNKED = ascii('chunked')
const CONTINUE = ascii('100-continue')

const DROP = 0
const KEEP = 1

const knownRequestFields = new KnownFields()
const knownAnswerFields = new KnownFields()

/**
 * Reads the fields from `at`, the start of a line, and copies those that pass to `output` at `to`, all in one pass. Fills
 * `head`. Returns `COMPLETE`, `INCOMPLETE` or the status to refuse with (400 for anything malformed; for a response, the
 * caller turns it into 502).
 */
// oxlint-disable-next-line max-lines-per-function -- one pass over bytes; parts would have to return two positions each
export function parseFields(
  input: Uint8Array,
  at: number,
  end: number,
  output: Uint8Array,
  to: number,
  head: Head,
  request: boolean,
): number {
  const known = request ? knownRequestFields : knownAnswerFields
  const max = request ? MAX_FIELDS : MAX_ANSWER_FIELDS
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
    if (++fields > max) return 431
    const lineStart = to
    const repeated = known.repeat(input, at, end, output, to)
    if (repeated > 0) {
      at += repeated
      to += repeated
      head.lineStarts[head.lines] = lineStart
      head.nameEnds[head.lines++] = lineStart + known.nameBytes
      continue
    }
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
    // White space after a value is not part of it (RFC 9112 5.1), but not every upstream applies that to `chunked` and a
    // tab.
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
      // An upstream that compares letter by letter must find the same framing.
      if (kind === TRANSFER_ENCODING) output.set(CHUNKED, outputValue)
    } else if (at - nameStart === to - lineStart) known.remember(output, lineStart, outputNameEnd, to)
    head.lineStarts[head.lines] = lineStart
    head.nameEnds[head.lines++] = outputNameEnd
  }
}

/** Handles a field that means something to the relay. Returns DROP, KEEP or the status to refuse with. */
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
  // `Content_Length` is not a length to us but could be one to an upstream, so it is dropped.
  for (let index = nameStart; index < nameEnd; index++) if (input[index] === 95) return DROP
  switch (kind) {
    case HOST:
      if (head.hostEnd !== 0 || !isHost(input, start, end)) return 400
      head.hostStart = start
      head.hostEnd = end
      return KEEP
    case CONTENT_LENGTH:
      // Also refuses lists and repeated lengths, as RFC 9112 6.3 permits even if they are equal.
      if (head.contentLength !== -1) return 400
      head.contentLength = decimal(input, start, end, MAX_LENGTH_DIGITS)
      if (head.contentLength === -1) return 400
      return request || lengthAllowed(head.status) ? KEEP : DROP
    case TRANSFER_ENCODING:
      if (head.chunked || start === end) return 400
      if (!equalsIgnoringCase(input, start, end, CHUNKED)) return request ? 501 : 400
      // Allowed, but llhttp and others do not see a coding then: it is meant to hide the coding from one of two readers.
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
    case CLAIM:
      return head.forwarded ? KEEP : DROP
    case KEEP_ALIVE:
      head.keepAliveSeconds = keepAliveTimeout(input, start, end)
      return DROP
    default:
      return DROP
  }
}

/** 1xx and 204 have no body and must not announce one (RFC 9110 8.6, RFC 9112 6.1). */
function lengthAllowed(status: number): boolean {
  return status >= 200 && status !== 204
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
