import { open } from 'node:fs/promises'
import { isBroken, readPart, type Slice } from './parts.ts'

/** Longer than any line as JSON. */
const MAX_LINE_BYTES = 256 * 1024
const NEWLINE = 0x0a

/** Consecutive lines of a log. */
export interface Batch {
  /** The number of the first line. */
  first: number
  /** The stored lines, each with its newline. */
  text: Buffer
  count: number
}

/** Reads a log forward by line number. Remembers the offset of the next line, so that a batch costs only its own length. */
export class ForwardReader {
  #place: { first: number; line: number; offset: number } | null = null
  #unpacked: { first: number; content: Buffer } | null = null

  /**
   * Returns the lines from a number on, limited in count and bytes. Starts at the oldest kept line when that one is gone or
   * in a broken part. Null when there are none yet.
   */
  async next(
    slices: readonly Slice[],
    line: number,
    maxLines: number,
    maxBytes: number,
  ): Promise<Batch | null> {
    const index = slices.findLastIndex(({ first }) => first <= line)
    const candidates = slices.slice(Math.max(0, index), Math.max(0, index) + 2)
    for (const slice of candidates) {
      const from = Math.max(line, slice.first)
      try {
        const batch = await this.#batchOf(slice, from, maxLines, maxBytes)
        if (batch) return batch
      } catch (error) {
        if (!isBroken(error)) throw error
      }
    }
    return null
  }

  async #batchOf(slice: Slice, from: number, maxLines: number, maxBytes: number): Promise<Batch | null> {
    const offset = await this.#offsetOf(slice, from)
    if (offset === null) return null
    const batch = take(await this.#read(slice, offset, maxBytes), maxLines, maxBytes)
    if (batch.count === 0) return null
    this.#place = { first: slice.first, line: from + batch.count, offset: offset + batch.text.length }
    return { first: from, ...batch }
  }

  /** The offset of a line in its part; null when the part is gone, or does not have the line yet. */
  async #offsetOf(slice: Slice, line: number): Promise<number | null> {
    if (line === slice.first) return 0
    if (this.#place?.first === slice.first && this.#place.line === line) return this.#place.offset
    const content = await readPart(slice)
    let offset = 0
    for (let at = slice.first; content && at < line; at++) {
      const newline = content.indexOf(NEWLINE, offset)
      if (newline === -1) return null
      offset = newline + 1
    }
    return content && offset
  }

  async #read(slice: Slice, offset: number, maxBytes: number): Promise<Buffer> {
    const file = slice.isPacked ? null : await open(slice.path, 'r').catch(() => null)
    if (!file) return (await this.#unpack(slice)).subarray(offset)
    this.#unpacked = null
    try {
      const room = (slice.bytes ?? Infinity) - offset
      const buffer = Buffer.allocUnsafe(Math.max(0, Math.min(room, maxBytes + MAX_LINE_BYTES)))
      const { bytesRead } = await file.read(buffer, 0, buffer.length, offset)
      return buffer.subarray(0, bytesRead)
    } finally {
      await file.close()
    }
  }

  async #unpack(slice: Slice): Promise<Buffer> {
    if (this.#unpacked?.first === slice.first) return this.#unpacked.content
    const content = (await readPart({ ...slice, bytes: null })) ?? Buffer.alloc(0)
    this.#unpacked = { first: slice.first, content }
    return content
  }
}

/** Takes whole lines from the beginning of a text. */
function take(content: Buffer, maxLines: number, maxBytes: number): { text: Buffer; count: number } {
  let end = 0
  let count = 0
  while (count < maxLines && (count === 0 || end < maxBytes)) {
    const newline = content.indexOf(NEWLINE, end)
    if (newline === -1) break
    end = newline + 1
    count++
  }
  return { text: content.subarray(0, end), count }
}
