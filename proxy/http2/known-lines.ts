import { CR, ascii, latin1 } from '../http1/bytes.ts'
import { Words } from '../http1/words.ts'
import { ENTRY_BYTES, TABLE_BYTES } from './dynamic-table.ts'
import { STATIC_NAMES } from './static-table.ts'

/** Fields about a connection of HTTP/1.1 have no place in HTTP/2 (RFC 9113 8.2.2). */
const CONNECTION_FIELDS = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
])
/** Values that differ from answer to answer would push those that stay out of the table. */
const CHANGING = new Set([
  'age',
  'content-length',
  'content-range',
  'date',
  'etag',
  'expires',
  'last-modified',
  'location',
  'x-request-id',
])
/**
 * What no table on the way should hold, as its length could be guessed from what it saves (RFC 7541 7.1.3); nor does the
 * memory of lines, which is of all services.
 */
const SECRET = new Set(['authorization', 'cookie', 'proxy-authorization', 'set-cookie'])
/** Memory of the lines that a worker remembers: services repeat a few dozen. */
const MAX_BYTES = 512 * 1024
/** What remembering a line costs beside its text, which is kept as bytes and as words. */
const LINE_BYTES = 384
/** A longer line fits into no table. */
const MAX_LINE_BYTES = TABLE_BYTES
/** Spellings of names that are remembered, and how long they may be: no field that is known has a longer one. */
const MAX_NAMES = 1_000
const MAX_NAME_BYTES = 64

/** How a line is encoded: its patterns of RFC 7541 6.2, or not at all. */
export const LITERAL = { inserted: 0x40, plain: 0x00, neverIndexed: 0x10, none: -1 } as const

/** A name as it is spelled. */
class KnownName {
  readonly lower: string
  /** One of `LITERAL`. */
  readonly literal: number
  /** Its index in the static table, 0 for none, and its text in lower case. */
  readonly index: number
  readonly text: Uint8Array
  /** With the colon and the space after it. */
  readonly bytes: number

  constructor(spelling: string) {
    this.lower = spelling.toLowerCase()
    this.literal = literalOf(this.lower)
    this.index = STATIC_NAMES.get(this.lower) ?? 0
    this.text = ascii(this.lower)
    this.bytes = spelling.length + 2
  }
}

function literalOf(name: string): number {
  if (CONNECTION_FIELDS.has(name)) return LITERAL.none
  if (SECRET.has(name)) return LITERAL.neverIndexed
  return CHANGING.has(name) ? LITERAL.plain : LITERAL.inserted
}

let lastId = 0

/** What is known of a line of a head in HTTP/1.1: of one that repeats all of it, of others the name. */
export class KnownLine {
  /** Two with the same are the same. */
  readonly id = ++lastId
  readonly name: KnownName
  readonly repeats: boolean
  /** What it begins with, or of one that repeats all of it. */
  readonly text: Uint8Array
  /** The same in words of four bytes, as far as they go. */
  readonly words: Uint32Array
  /** What came after it last. */
  next: KnownLine | null = null

  constructor(name: KnownName, text: Uint8Array) {
    this.name = name
    this.repeats = name.literal === LITERAL.inserted
    this.text = text
    const view = new DataView(text.buffer, text.byteOffset, text.length)
    this.words = Uint32Array.from({ length: text.length >>> 2 }, (_, word) => view.getUint32(word * 4, true))
  }

  /** What it counts in a table. */
  get size(): number {
    return this.text.length - 2 + ENTRY_BYTES
  }
}

const names = new Map<string, KnownName>()
/** By their text; those of which the name is known by that. */
const lines = new Map<string, KnownLine>()
let bytes = 0
/** The first of a head. */
let first: KnownLine | null = null

/**
 * What is known of the line that begins at `at` and comes after `before`, null for the first of a head. Heads repeat
 * their lines in order, so the one that came there last is looked at before any other: no string is made of it.
 */
export function knownLine(before: KnownLine | null, input: Buffer, at: number, end: number): KnownLine {
  const expected = before === null ? first : before.next
  if (expected !== null && isAt(expected, input, at, end)) return expected
  const stop = lineEnd(input, at, end)
  const line = find(input, at, stop)
  if (stop - at > MAX_LINE_BYTES) return line
  if (before === null) first = line
  else before.next = line
  return line
}

const heads = new Words()

/** Whether the line that begins at `at` is this one. */
function isAt({ text, words, repeats }: KnownLine, input: Uint8Array, at: number, end: number): boolean {
  const stop = at + text.length
  if (stop > end) return false
  const view = heads.of(input)
  let index = at
  for (let word = 0; word < words.length; word++, index += 4)
    if (view.getUint32(index, true) !== words[word]) return false
  for (; index < stop; index++) if (input[index] !== text[index - at]) return false
  return !repeats || stop === end || input[stop] === CR
}

function find(input: Buffer, at: number, stop: number): KnownLine {
  const text = latin1(input, at, stop)
  const known = lines.get(text)
  if (known) return known
  // A slice of the text would keep all of it.
  const spelling = latin1(input, at, at + text.indexOf(':'))
  const named = lines.get(spelling)
  if (named) return named
  const name = nameOf(spelling)
  const line = new KnownLine(
    name,
    slice(input, at, name.literal === LITERAL.inserted ? stop : at + name.bytes),
  )
  if (text.length > MAX_LINE_BYTES) return line
  const size = LINE_BYTES + 2 * line.text.length
  if (bytes + size > MAX_BYTES) forget()
  bytes += size
  lines.set(line.repeats ? text : spelling, line)
  return line
}

function nameOf(spelling: string): KnownName {
  const known = names.get(spelling)
  if (known) return known
  const name = new KnownName(spelling)
  if (names.size < MAX_NAMES && spelling.length <= MAX_NAME_BYTES) names.set(spelling, name)
  return name
}

/** Forgets all lines: connections have in their tables only the ids of those that were sent. */
function forget(): void {
  lines.clear()
  bytes = 0
  first = null
}

function slice(input: Uint8Array, start: number, end: number): Uint8Array {
  return Uint8Array.prototype.slice.call(input, start, end)
}

/** Where the line that `at` lies in ends, before its CRLF. */
export function lineEnd(input: Uint8Array, at: number, end: number): number {
  while (at < end && input[at] !== CR) at++
  return at
}
