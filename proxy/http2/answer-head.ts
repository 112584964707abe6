import { latin1 } from '../http1/bytes.ts'
import { withoutWhitespace } from '../http1/whitespace.ts'

/** Fields about a connection of HTTP/1.1 have no place in HTTP/2 (RFC 9113 8.2.2). */
const CONNECTION_FIELDS = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
])
/** Fields of an answer that have one value, and that node refuses to send twice. */
const SINGLE_FIELDS = new Set([
  'access-control-allow-credentials',
  'access-control-max-age',
  'age',
  'content-encoding',
  'content-language',
  'content-length',
  'content-location',
  'content-md5',
  'content-range',
  'content-type',
  'date',
  'etag',
  'expires',
  'last-modified',
  'location',
  'retry-after',
  'tk',
  'x-content-type-options',
])
/** Spellings of names that are remembered: services use a few dozen. */
const MAX_NAMES = 1_000

/** Names as HTTP/2 spells them by how they came; empty for those that it has no place for. */
const names = new Map<string, string>()

/** An answer's head: names in lower case and values in turn. */
export interface AnswerHead {
  status: number
  fields: string[]
  /** The index after the empty line. */
  bodyStart: number
}

/** Reads the HTTP/1.1 head of an answer, which the relay wrote and which is whole, from `bytes[start, end)`. */
export function readAnswerHead(bytes: Buffer, start: number, end: number): AnswerHead {
  const headEnd = bytes.indexOf('\r\n\r\n', start, 'latin1')
  if (headEnd < 0 || headEnd >= end) throw new Error('the head of an answer is written in one piece')
  const text = latin1(bytes, start, headEnd)
  const fields: string[] = []
  let line = text.indexOf('\r\n')
  while (line >= 0) {
    const next = text.indexOf('\r\n', line + 2)
    const colon = text.indexOf(':', line)
    const name = nameOf(text.slice(line + 2, colon))
    if (name !== '') fields.push(name, withoutWhitespace(text.slice(colon + 1, next < 0 ? undefined : next)))
    line = next
  }
  return { status: Number(text.slice(9, 12)), fields, bodyStart: headEnd + 4 }
}

function nameOf(spelling: string): string {
  const known = names.get(spelling)
  if (known !== undefined) return known
  const lower = spelling.toLowerCase()
  const name = CONNECTION_FIELDS.has(lower) ? '' : lower
  if (names.size < MAX_NAMES) names.set(spelling, name)
  return name
}

/** The fields without second values of those that have one: of what a service says twice, the first counts. */
export function withoutRepeats(fields: readonly string[]): string[] {
  const seen = new Set<string>()
  const kept: string[] = []
  for (let index = 0; index < fields.length; index += 2) {
    const name = fields[index]!
    if (SINGLE_FIELDS.has(name) && seen.has(name)) continue
    seen.add(name)
    kept.push(name, fields[index + 1]!)
  }
  return kept
}
