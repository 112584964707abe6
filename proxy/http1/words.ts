/** Words of four bytes of a buffer, wherever they begin: read and compared in a quarter of the steps. */
export class Words {
  #buffer: Uint8Array | null = null
  #view: DataView = new DataView(new ArrayBuffer(0))

  /** Most heads stand in the same few buffers: a view of the last is at hand. */
  of(buffer: Uint8Array): DataView {
    if (this.#buffer === buffer) return this.#view
    this.#buffer = buffer
    this.#view = new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength)
    return this.#view
  }
}

/** Bytes of a word. The last one of a text may share some with the one before; no shorter text has words. */
export const WORD_BYTES = 4

/** Puts the words of `text[start, end)` into `words` from `word` on. */
export function putWords(text: DataView, start: number, end: number, words: Uint32Array, word: number): void {
  const last = end - WORD_BYTES
  for (let at = start; at < last; at += WORD_BYTES) words[word++] = text.getUint32(at, true)
  words[word] = text.getUint32(last, true)
}

/**
 * Whether `text[start, end)` has the words that stand in `words` from `word` on. What is looked at is copied to `output`
 * at `to` meanwhile, unless that is null.
 */
export function hasWords(
  text: DataView,
  start: number,
  end: number,
  words: Uint32Array,
  word: number,
  output: DataView | null,
  to: number,
): boolean {
  const last = end - WORD_BYTES
  const shift = to - start
  for (let at = start; at < last; at += WORD_BYTES, word++) {
    const bytes = text.getUint32(at, true)
    if (bytes !== words[word]) return false
    if (output) output.setUint32(at + shift, bytes, true)
  }
  const bytes = text.getUint32(last, true)
  if (bytes !== words[word]) return false
  if (output) output.setUint32(last + shift, bytes, true)
  return true
}

/** Copies `text[start, end)`, which is no shorter than a word, to `output` at `to`. */
export function copyWords(text: DataView, start: number, end: number, output: DataView, to: number): void {
  const last = end - WORD_BYTES
  const shift = to - start
  for (let at = start; at < last; at += WORD_BYTES)
    output.setUint32(at + shift, text.getUint32(at, true), true)
  output.setUint32(last + shift, text.getUint32(last, true), true)
}
