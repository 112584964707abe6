/** Reads a buffer in words of four bytes at any offset, which takes a quarter of the steps. */
export class Words {
  #buffer: Uint8Array | null = null
  #view: DataView = new DataView(new ArrayBuffer(0))

  /** Returns a view of the buffer. The last one is kept, since most heads are in the same few buffers. */
  of(buffer: Uint8Array): DataView {
    if (this.#buffer === buffer) return this.#view
    this.#buffer = buffer
    this.#view = new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength)
    return this.#view
  }
}

/** Bytes of a word. The last word of a text may overlap the one before; a text shorter than this has no words. */
export const WORD_BYTES = 4

/** Stores the words of `text[start, end)` in `words` from `word` on. */
export function putWords(text: DataView, start: number, end: number, words: Uint32Array, word: number): void {
  const last = end - WORD_BYTES
  for (let at = start; at < last; at += WORD_BYTES) words[word++] = text.getUint32(at, true)
  words[word] = text.getUint32(last, true)
}

/**
 * Whether `text[start, end)` equals the words in `words` from `word` on. Unless `output` is null, the compared bytes are
 * copied to it at `to` along the way.
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

/** Copies `text[start, end)`, which is at least one word long, to `output` at `to`. */
export function copyWords(text: DataView, start: number, end: number, output: DataView, to: number): void {
  const last = end - WORD_BYTES
  const shift = to - start
  for (let at = start; at < last; at += WORD_BYTES)
    output.setUint32(at + shift, text.getUint32(at, true), true)
  output.setUint32(last + shift, text.getUint32(last, true), true)
}
