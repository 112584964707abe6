import { isShared } from './shared-names.ts'
import { WORD_BYTES, Words, hasWords, putWords } from './words.ts'

/** How many lines are remembered: a browser sends about ten, and so does an application. */
const LINES = 128
/** How many lines with the same beginning are remembered: enough for two browsers. */
const WAYS = 2
/** How many times in a row a beginning must miss until a new line replaces a remembered one. */
const PATIENCE = 16
/** Longer lines are parsed each time. */
const LINE_BYTES = 256
const LINE_WORDS = LINE_BYTES / WORD_BYTES
/**
 * Lines are looked up by so many first bytes, which differ between the lines of a browser's head; shorter ones are quick to
 * parse.
 */
const KEY_BYTES = 16
/** An odd number that spreads bits (Knuth, "The Art of Computer Programming" 6.4). */
const SPREAD = 0x9e3779b1
const SET_BITS = 32 - Math.log2(LINES / WAYS)

/**
 * A cache of field lines that many clients share and that mean nothing to the relay, as they were last written. If a line
 * comes again byte for byte, its bytes are only compared, not parsed.
 */
export class KnownFields {
  /** The length of the name of the line that was repeated last. */
  nameBytes = 0
  readonly #input = new Words()
  readonly #output = new Words()
  /** The lines with their CRLF, each in a slot; their lengths (0 if empty), and the lengths of their names. */
  readonly #words = new Uint32Array(LINES * LINE_WORDS)
  readonly #lengths = new Uint16Array(LINES)
  readonly #names = new Uint16Array(LINES)
  /** By the first slot of a beginning: how many other lines have come in a row, and which slot was used last. */
  readonly #misses = new Uint8Array(LINES)
  readonly #used = new Uint8Array(LINES)
  /** The slot for the line that was looked up last; negative if it must not be remembered. */
  #place = -1

  /**
   * Copies the line at `at` to `output` at `to` if it is remembered. Returns its length, or 0 if it is not remembered; then
   * the bytes written to `output` are meaningless.
   */
  repeat(input: Uint8Array, at: number, end: number, output: Uint8Array, to: number): number {
    this.#place = -1
    if (end - at < KEY_BYTES) return 0
    const from = this.#input.of(input)
    const into = this.#output.of(output)
    const first = firstSlotOf(from, at)
    for (let slot = first; slot < first + WAYS; slot++) {
      const length = this.#lengths[slot]!
      if (length === 0) {
        this.#place = slot
        return 0
      }
      const stop = at + length
      if (stop > end || !hasWords(from, at, stop, this.#words, slot * LINE_WORDS, into, to)) continue
      this.nameBytes = this.#names[slot]!
      this.#misses[first] = 0
      this.#used[first] = slot - first
      return length
    }
    // Lines that keep alternating would otherwise each be remembered only for the next one to replace it.
    if (++this.#misses[first]! < PATIENCE) return 0
    this.#misses[first] = 0
    this.#place = first + ((this.#used[first]! + 1) % WAYS)
    return 0
  }

  /**
   * Remembers the line that was looked up last, which is in `bytes[start, end)` byte for byte, if there is a slot for it and
   * its name, which ends at `nameEnd`, is a shared one.
   */
  remember(bytes: Uint8Array, start: number, nameEnd: number, end: number): void {
    const slot = this.#place
    const length = end - start
    if (slot < 0 || length < WORD_BYTES || length > LINE_BYTES || !isShared(bytes, start, nameEnd)) return
    putWords(this.#output.of(bytes), start, end, this.#words, slot * LINE_WORDS)
    this.#lengths[slot] = length
    this.#names[slot] = nameEnd - start
  }
}

/** Returns the first slot for lines that begin like the one at `at`. */
function firstSlotOf(view: DataView, at: number): number {
  let key = 0
  for (const stop = at + KEY_BYTES; at < stop; at += WORD_BYTES)
    key = Math.imul(key ^ view.getUint32(at, true), SPREAD)
  return (key >>> SET_BITS) * WAYS
}
