import { isShared } from './shared-names.ts'
import { WORD_BYTES, Words, hasWords, putWords } from './words.ts'

/** Lines that are remembered: a browser sends about ten, and an application's answer has as many. */
const LINES = 128
/** Lines with the same beginning that are remembered: of two browsers. */
const WAYS = 2
/** How often in a row lines with a beginning must be others than those that are remembered until one takes a place. */
const PATIENCE = 16
/** A longer line is read anew each time. */
const LINE_BYTES = 256
const LINE_WORDS = LINE_BYTES / WORD_BYTES
/** A line is found by its first so many bytes, which tell those of a browser's head apart; a shorter one is soon read. */
const KEY_BYTES = 16
/** Odd numbers that spread bits (Knuth, "The Art of Computer Programming" 6.4). */
const SPREAD = 0x9e3779b1
const SET_BITS = 32 - Math.log2(LINES / WAYS)

/**
 * Lines of fields that many share and that mean nothing to the relay, as they were written last: one that comes again,
 * byte for byte, needs no other look at its bytes than whether they are the same.
 */
export class KnownFields {
  /** Where the name ended of the line that was repeated last, after its beginning. */
  nameBytes = 0
  readonly #input = new Words()
  readonly #output = new Words()
  /** The lines with their CRLF, each in a slot; their lengths, 0 for none, and those of their names. */
  readonly #words = new Uint32Array(LINES * LINE_WORDS)
  readonly #lengths = new Uint16Array(LINES)
  readonly #names = new Uint16Array(LINES)
  /** By the first slot of those for a beginning: how many other lines have come in a row, and which slot was of use. */
  readonly #misses = new Uint8Array(LINES)
  readonly #used = new Uint8Array(LINES)
  /** Where the line that was looked for last could be remembered; negative for nowhere. */
  #place = -1

  /**
   * Copies the line at `at` to `output` at `to` when it is remembered. Answers its length; 0 when it is not, and
   * what was copied is of no use.
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
    // Whoever comes in turn with others would have each remembered for the next to forget it.
    if (++this.#misses[first]! < PATIENCE) return 0
    this.#misses[first] = 0
    this.#place = first + ((this.#used[first]! + 1) % WAYS)
    return 0
  }

  /**
   * Remembers the line that was looked for last, which stands in `bytes[start, end)` byte for byte, when there is a place
   * for it and its name, which ends at `nameEnd`, is one that is shared.
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

/** The first slot for lines that begin as the one at `at`. */
function firstSlotOf(view: DataView, at: number): number {
  let key = 0
  for (const stop = at + KEY_BYTES; at < stop; at += WORD_BYTES)
    key = Math.imul(key ^ view.getUint32(at, true), SPREAD)
  return (key >>> SET_BITS) * WAYS
}
