import { ascii, equalsFolded } from './bytes.ts'
import { Words } from './words.ts'

/** Lines that are remembered: a browser sends about ten, and an application's answer has as many. */
const LINES = 128
/** A longer line is read anew each time. */
const LINE_BYTES = 256
const LINE_WORDS = LINE_BYTES / 4
/** A line is found by its first so many bytes, which tell those of a browser's head apart; a shorter one is soon read. */
const KEY_BYTES = 16
/** Odd numbers that spread bits (Knuth, "The Art of Computer Programming" 6.4). */
const SPREAD = 0x9e3779b1
const SLOT_BITS = 32 - Math.log2(LINES)
/**
 * Fields that are the same for many visitors and services, and hold nothing that one of them keeps from another: all
 * share this memory, and how long it takes to find a line in it, or not, tells something of what others have sent.
 */
const NAMES = [
  'accept',
  'accept-encoding',
  'accept-language',
  'accept-ranges',
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-origin',
  'cache-control',
  'content-encoding',
  'content-language',
  'content-type',
  'cross-origin-embedder-policy',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
  'date',
  'origin-agent-cluster',
  'permissions-policy',
  'pragma',
  'priority',
  'referrer-policy',
  'sec-ch-ua',
  'sec-ch-ua-mobile',
  'sec-ch-ua-platform',
  'sec-fetch-dest',
  'sec-fetch-mode',
  'sec-fetch-site',
  'sec-fetch-user',
  'server',
  'strict-transport-security',
  'upgrade-insecure-requests',
  'user-agent',
  'vary',
  'x-content-type-options',
  'x-dns-prefetch-control',
  'x-download-options',
  'x-frame-options',
  'x-permitted-cross-domain-policies',
  'x-powered-by',
  'x-xss-protection',
]
const NAMES_BY_LENGTH: ReturnType<typeof ascii>[][] = Array.from({ length: LINE_BYTES }, () => [])
for (const name of NAMES) NAMES_BY_LENGTH[name.length]!.push(ascii(name))

/**
 * Field lines of a few names that passed and mean nothing to the relay, as they were written last: one that comes again,
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

  /**
   * Copies the line at `at` to `output` at `to` when it is remembered. Answers its length; 0 when it is not, and what
   * was copied is of no use.
   */
  repeat(input: Uint8Array, at: number, end: number, output: Uint8Array, to: number): number {
    if (end - at < KEY_BYTES) return 0
    const from = this.#input.of(input)
    const slot = slotOf(from, at)
    const length = this.#lengths[slot]!
    if (length === 0 || end - at < length) return 0
    const into = this.#output.of(output)
    const words = this.#words
    const stop = at + length - 4
    let word = slot * LINE_WORDS
    for (; at < stop; at += 4, to += 4, word++) {
      const four = from.getUint32(at, true)
      if (four !== words[word]) return 0
      into.setUint32(to, four, true)
    }
    // The last four bytes, of which some may have been looked at.
    const last = from.getUint32(stop, true)
    if (last !== words[word]) return 0
    into.setUint32(to + stop - at, last, true)
    this.nameBytes = this.#names[slot]!
    return length
  }

  /** Remembers the line that stands in `bytes[start, end)`, if its name, which ends at `nameEnd`, is one of them. */
  remember(bytes: Uint8Array, start: number, nameEnd: number, end: number): void {
    const length = end - start
    if (length < KEY_BYTES || length > LINE_BYTES || !isShared(bytes, start, nameEnd)) return
    const view = this.#output.of(bytes)
    const slot = slotOf(view, start)
    const stop = end - 4
    let word = slot * LINE_WORDS
    for (let at = start; at < stop; at += 4) this.#words[word++] = view.getUint32(at, true)
    this.#words[word] = view.getUint32(stop, true)
    this.#lengths[slot] = length
    this.#names[slot] = nameEnd - start
  }
}

function isShared(bytes: Uint8Array, start: number, nameEnd: number): boolean {
  for (const name of NAMES_BY_LENGTH[nameEnd - start]!)
    if (equalsFolded(bytes, start, nameEnd, name)) return true
  return false
}

function slotOf(view: DataView, at: number): number {
  let key = 0
  for (const stop = at + KEY_BYTES; at < stop; at += 4)
    key = Math.imul(key ^ view.getUint32(at, true), SPREAD)
  return key >>> SLOT_BITS
}
