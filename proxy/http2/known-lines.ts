import { CR, latin1 } from '../http1/bytes.ts'
import { SHARED_NAMES } from '../http1/shared-names.ts'
import { WORD_BYTES, Words, hasWords, putWords } from '../http1/words.ts'
import { ENTRY_BYTES, TABLE_BYTES } from './dynamic-table.ts'
import { STATIC_NAMES } from './static-table.ts'

/** Fields about an HTTP/1.1 connection are not allowed in HTTP/2 (RFC 9113 8.2.2). */
const CONNECTION_FIELDS = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
])
/**
 * Shared fields whose values differ from answer to answer, such as a policy with a nonce: in the table they would evict the
 * lines that stay the same.
 */
const CHANGING = new Set(['content-security-policy', 'content-security-policy-report-only', 'date'])
/** Fields that no table may contain, since how well they compress would reveal guesses of them (RFC 7541 7.1.3). */
const SECRET = new Set(['authorization', 'cookie', 'proxy-authorization', 'set-cookie'])
/** Max memory for the lines that a worker remembers: services repeat a few dozen. */
const MAX_BYTES = 512 * 1024
/** The cost of remembering a line, in addition to its words and its text. */
const LINE_BYTES = 384
/** A longer line does not fit into any table. */
const MAX_LINE_BYTES = TABLE_BYTES
/** How many spellings of names are remembered, and of what length: no known field has a longer name. */
const MAX_NAMES = 1_000
const MAX_NAME_BYTES = 64

/** How a line is encoded: one of the patterns of RFC 7541 6.2, or not at all. */
export const LITERAL = { inserted: 0x40, plain: 0x00, neverIndexed: 0x10, none: -1 } as const

/** A name in one spelling. */
class KnownName {
  readonly lower: string
  /** One of `LITERAL`. */
  readonly literal: number
  /** Its index in the static table, 0 for none. */
  readonly index: number
  /** Its length with the colon and the space after it. */
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

/** A colon and a space, which are not part of the table. */
const SEPARATOR_BYTES = 2

const heads = new Words()
let lastId = 0

/** A remembered line of an HTTP/1.1 head: the whole line if its kind repeats, otherwise only its name. */
export class KnownLine {
  /** Lines with the same id are the same. */
  readonly id = ++lastId
  readonly name: KnownName
  readonly repeats: boolean
  /** The length of what is compared: the whole line if it repeats, otherwise the name. */
  readonly length: number
  /** The line that last came after it. */
  next: KnownLine | null = null
  readonly #words: Uint32Array

  /** Remembers the line in `input[at, stop)`. */
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
/** Repeating lines by their text, the others by their name. */
const lines = new Map<string, KnownLine>()
let bytes = 0
/** The last first line of a head. */
let first: KnownLine | null = null

/**
 * Returns what is remembered about the line that begins at `at` and follows `before` (null: it is the first). Heads repeat
 * their lines in order, so the line that came here last time is tried first, without creating a string.
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
  // Not a slice of the text, which would keep all of it in memory.
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

/** Forgets all lines. Safe, because the tables of connections only have the ids of lines. */
function forget(): void {
  lines.clear()
  bytes = 0
  first = null
}

/** Returns where the line around `at` ends, before its CRLF. */
export function lineEnd(input: Uint8Array, at: number, end: number): number {
  while (at < end && input[at] !== CR) at++
  return at
}
