import { CR, latin1 } from '../http1/bytes.ts'
import { SHARED_NAMES } from '../http1/shared-names.ts'
import { WORD_BYTES, Words, hasWords, putWords } from '../http1/words.ts'
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
/**
 * Of the fields that are shared those whose values differ from answer to answer, as a policy with a nonce does: they would
 * push out what stays.
 */
const CHANGING = new Set(['content-security-policy', 'content-security-policy-report-only', 'date'])
/** What no table on the way should hold, as its length could be guessed from what it saves (RFC 7541 7.1.3). */
const SECRET = new Set(['authorization', 'cookie', 'proxy-authorization', 'set-cookie'])
/** Memory of the lines that a worker remembers: services repeat a few dozen. */
const MAX_BYTES = 512 * 1024
/** What remembering a line costs beside its words and its text. */
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
  /** Its index in the static table, 0 for none. */
  readonly index: number
  /** With the colon and the space after it. */
  readonly bytes: number

  constructor(spelling: string) {
    this.lower = spelling.toLowerCase()
    this.literal = literalOf(this.lower)
    this.index = STATIC_NAMES.get(this.lower) ?? 0
    this.bytes = spelling.length + SEPARATOR_BYTES
  }
}

function literalOf(name: string): number {
  if (CONNECTION_FIELDS.has(name)) return LITERAL.none
  if (SECRET.has(name)) return LITERAL.neverIndexed
  return SHARED_NAMES.has(name) && !CHANGING.has(name) ? LITERAL.inserted : LITERAL.plain
}

/** A colon and a space, which stand in no table. */
const SEPARATOR_BYTES = 2

const heads = new Words()
let lastId = 0

/** What is known of a line of a head in HTTP/1.1: of one that repeats all of it, of others the name. */
export class KnownLine {
  /** Two with the same are the same. */
  readonly id = ++lastId
  readonly name: KnownName
  readonly repeats: boolean
  /** The bytes of what it begins with, or of one that repeats of all of it. */
  readonly length: number
  /** What came after it last. */
  next: KnownLine | null = null
  readonly #words: Uint32Array

  /** What the line that stands in `input[at, stop)` is known by. */
  constructor(name: KnownName, input: Uint8Array, at: number, stop: number) {
    this.name = name
    this.repeats = name.literal === LITERAL.inserted
    this.length = this.repeats ? stop - at : name.bytes
    this.#words = new Uint32Array(Math.ceil(this.length / WORD_BYTES))
    if (this.length >= WORD_BYTES) putWords(heads.of(input), at, at + this.length, this.#words, 0)
  }

  /** Whether the line that begins at `at` is this one. */
  isAt(input: Uint8Array, at: number, end: number): boolean {
    const stop = at + this.length
    if (stop > end || this.length < WORD_BYTES) return false
    if (!hasWords(heads.of(input), at, stop, this.#words, 0, null, 0)) return false
    return !this.repeats || stop === end || input[stop] === CR
  }

  /** What it counts in a table. */
  get size(): number {
    return this.length - SEPARATOR_BYTES + ENTRY_BYTES
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
  if (expected !== null && expected.isAt(input, at, end)) return expected
  const stop = lineEnd(input, at, end)
  const line = find(input, at, stop)
  if (stop - at > MAX_LINE_BYTES) return line
  if (before === null) first = line
  else before.next = line
  return line
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
  const line = new KnownLine(name, input, at, stop)
  if (text.length > MAX_LINE_BYTES) return line
  const size = LINE_BYTES + 2 * line.length
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

/** Where the line that `at` lies in ends, before its CRLF. */
export function lineEnd(input: Uint8Array, at: number, end: number): number {
  while (at < end && input[at] !== CR) at++
  return at
}
