import { open, type FileHandle } from 'node:fs/promises'
import { PRIVATE_FILE_MODE } from '../files.ts'

/** More than the longest line takes as JSON. */
const TAIL_BYTES = 256 * 1024
const NEWLINE = 0x0a

/** How much of a text was appended, and what kept the rest off; null when all of it was. */
interface Appended {
  bytes: number
  lines: number
  fault: unknown
}

/** A file of whole lines that is appended to: nobody reads a torn one. */
export class LineFile {
  readonly #handle: FileHandle
  /** Bytes of a torn line at its end, where not even cutting it off was possible. */
  #torn = 0

  private constructor(handle: FileHandle) {
    this.#handle = handle
  }

  /** Opens a file, or begins it, without the line that a kill or a full disk cut off at its end. */
  static async open(path: string): Promise<LineFile> {
    const handle = await open(path, 'a+', PRIVATE_FILE_MODE)
    try {
      const { size } = await handle.stat()
      const tail = Buffer.alloc(Math.min(TAIL_BYTES, size))
      const { bytesRead } = await handle.read(tail, 0, tail.length, size - tail.length)
      const torn = bytesRead - 1 - tail.lastIndexOf(NEWLINE, bytesRead - 1)
      if (torn > 0) await handle.truncate(size - torn)
      return new LineFile(handle)
    } catch (error) {
      await handle.close().catch(() => {})
      throw error
    }
  }

  async size(): Promise<number> {
    return (await this.#handle.stat()).size
  }

  /** Appends as many of some lines as the disk takes, none of them torn. Never throws. */
  async append(text: Buffer): Promise<Appended> {
    let written = 0
    try {
      await this.#cutTorn()
      while (written < text.length) written += (await this.#handle.write(text, written)).bytesWritten
      return { bytes: written, lines: countLines(text), fault: null }
    } catch (fault) {
      const whole = text.subarray(0, text.subarray(0, written).lastIndexOf(NEWLINE) + 1)
      this.#torn += written - whole.length
      // What cannot be cut off now is before the next line.
      await this.#cutTorn().catch(() => {})
      return { bytes: whole.length, lines: countLines(whole), fault }
    }
  }

  async close(): Promise<void> {
    await this.#handle.close()
  }

  async #cutTorn(): Promise<void> {
    if (this.#torn === 0) return
    await this.#handle.truncate((await this.size()) - this.#torn)
    this.#torn = 0
  }
}

/** How many lines end in a text. */
export function countLines(text: Buffer): number {
  let count = 0
  for (let at = text.indexOf(NEWLINE); at !== -1; at = text.indexOf(NEWLINE, at + 1)) count++
  return count
}
