import type { Cut, Made } from './tool.ts'

/** An answer is read by a model, whose memory it fills: some 8,000 tokens. */
export const MAX_ANSWER_BYTES = 32 * 1024
/** Longer lines are data that happens to be printed. */
export const MAX_LINE_BYTES = 2 * 1024
/** For `truncated`, `next_cursor` and their names. */
const CUT_FIELDS_BYTES = 256
/** Shorter texts are not worth cutting. */
const MIN_CUT_BYTES = 64
const ELLIPSIS = '…'

/**
 * What acts on a terminal or hides from a reader: escape sequences and control strings as a whole (ECMA-48), other control
 * characters except tab and line feed, marks of text direction, tags (which models read and people do not see), and halves
 * of surrogate pairs.
 */
const UNSEEN =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?|(?:\u001b[PX\]^_]|[\u0090\u0098\u009d-\u009f])[^\u0000-\u001f\u007f-\u009f]*(?:\u001b\\|\u0007|\u009c)?|\u001b[ -/]*[0-~]?|[\u0000-\u0008\u000b-\u001f\u007f-\u009f]|[\p{Bidi_Control}\p{Cs}\u{e0000}-\u{e007f}]/gu

/** The text without what its reader would not see, with lines of at most 2 KiB. */
export function tidy(text: string): string {
  const shown = text.replaceAll(UNSEEN, '')
  if (fits(shown, MAX_LINE_BYTES)) return shown
  return shown
    .split('\n')
    .map((line) => cutText(line, MAX_LINE_BYTES))
    .join('\n')
}

/** The text, cut between two characters so that it has at most so many bytes in UTF-8. */
export function cutText(text: string, maxBytes: number): string {
  if (fits(text, maxBytes)) return text
  const room = new Uint8Array(Math.max(0, maxBytes - Buffer.byteLength(ELLIPSIS)))
  const { read } = new TextEncoder().encodeInto(text, room)
  return `${text.slice(0, read)}${ELLIPSIS}`
}

/** What is sent of an answer: tidy texts, no field without a value, at most 32 KiB. */
export function bounded({ value, cut }: Made): Record<string, unknown> {
  const whole = tidyValue(value) as Record<string, unknown>
  if (isSmall(whole)) return whole
  const shorter = cut ? withCutList(whole, cut) : whole
  return isSmall(shorter) ? shorter : shrunk(shorter)
}

function fits(text: string, maxBytes: number): boolean {
  // A character has at most three bytes for each unit of its string.
  return text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes
}

function isSmall(value: unknown): boolean {
  return bytesOf(value) <= MAX_ANSWER_BYTES
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}

function tidyValue(value: unknown): unknown {
  if (typeof value === 'string') return tidy(value)
  if (Array.isArray(value)) return value.map(tidyValue)
  if (typeof value !== 'object' || value === null) return value
  const given = Object.entries(value).filter(([, field]) => field !== null && field !== undefined)
  return Object.fromEntries(given.map(([key, field]) => [key, tidyValue(field)]))
}

/** Leaves out the oldest items of the list until the rest fits. */
function withCutList(whole: Record<string, unknown>, { list, keep, next }: Cut): Record<string, unknown> {
  const items = whole[list]
  if (!Array.isArray(items)) return whole
  const room = MAX_ANSWER_BYTES - CUT_FIELDS_BYTES - bytesOf({ ...whole, [list]: [] })
  const newestFirst: unknown[] = keep === 'first' ? items : items.toReversed()
  let bytes = 0
  let count = 0
  while (count < newestFirst.length) {
    bytes += bytesOf(newestFirst[count]) + 1
    if (bytes > room) break
    count++
  }
  const newest = newestFirst.slice(0, count)
  const kept = keep === 'first' ? newest : newest.toReversed()
  return { ...whole, [list]: kept, truncated: true, ...cursorField(next(kept)) }
}

function cursorField(cursor: string | undefined): { next_cursor?: string } {
  return cursor === undefined ? {} : { next_cursor: cursor }
}

/** A list or a text of an answer, and where it is. */
interface Part {
  holder: Record<string, unknown>
  key: string
  bytes: number
}

/** Halves the largest list or text until the answer fits; for answers that no list makes long. */
function shrunk(whole: Record<string, unknown>): Record<string, unknown> {
  const copy = structuredClone({ ...whole, truncated: true })
  while (!isSmall(copy)) {
    const [largest] = partsOf(copy).toSorted((left, right) => right.bytes - left.bytes)
    if (!largest) return { truncated: true }
    const { holder, key, bytes } = largest
    const part = holder[key]
    holder[key] = Array.isArray(part)
      ? part.slice(0, Math.floor(part.length / 2))
      : cutText(part as string, Math.floor(bytes / 2))
  }
  return copy
}

/** The texts and the lists that can be shortened, but not a list of one thing that has parts of its own. */
function partsOf(holder: object): Part[] {
  return Object.entries(holder).flatMap(([key, value]) => {
    const isCut =
      (typeof value === 'string' && value.length > MIN_CUT_BYTES) ||
      (Array.isArray(value) && (value.length > 1 || typeof value[0] === 'string'))
    const own = isCut ? [{ holder: holder as Record<string, unknown>, key, bytes: bytesOf(value) }] : []
    return typeof value === 'object' && value !== null ? [...own, ...partsOf(value as object)] : own
  })
}
