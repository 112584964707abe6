import { open, type FileHandle } from 'node:fs/promises'
import { Bell } from '../work/bell.ts'

/** How much is read at once; more when a single line is longer. */
const BLOCK_BYTES = 64 * 1024
const MAX_LINE_BYTES = 512 * 1024
/** Blocks kept for followers that are close behind each other: 4 MiB. */
const KEPT_BLOCKS = 64
const NEWLINE = 0x0a

/** Reads one log for all its followers: each block is read once, and each follower takes the blocks at its own pace. */
export class LogReader {
  readonly grown = new Bell()
  readonly #path: string
  #file: Promise<FileHandle | null> | null = null
  readonly #blocks = new Map<number, Promise<Buffer>>()
  #version = 0
  #goesOn: { version: number; value: boolean } | null = null

  constructor(path: string) {
    this.#path = path
  }

  /** Changes whenever there may be more lines, or the end. */
  get version(): number {
    return this.#version
  }

  /** Makes the followers look again. */
  nudge(): void {
    this.#version++
    this.grown.ring()
  }

  /** Whether more lines may come. Asks only once per change, for all followers. */
  goesOn(ask: () => boolean): boolean {
    if (this.#goesOn?.version !== this.#version) this.#goesOn = { version: this.#version, value: ask() }
    return this.#goesOn.value
  }

  /** The whole lines from an offset, which is the end of the block before; empty while no further line is complete. */
  at(offset: number): Promise<Buffer> {
    const kept = this.#blocks.get(offset)
    if (kept) return kept
    const block = this.#read(offset)
    this.#blocks.set(offset, block)
    if (this.#blocks.size > KEPT_BLOCKS) this.#blocks.delete(this.#blocks.keys().next().value!)
    const forget = () => this.#blocks.delete(offset)
    block.then(({ length }) => length > 0 || forget(), forget)
    return block
  }

  async close(): Promise<void> {
    await (await this.#file)?.close()
  }

  async #read(offset: number): Promise<Buffer> {
    const file = await (this.#file ??= open(this.#path, 'r').catch(() => null))
    if (!file) {
      this.#file = null
      return Buffer.alloc(0)
    }
    for (let size = BLOCK_BYTES; ; size *= 2) {
      const buffer = Buffer.allocUnsafe(size)
      const { bytesRead } = await file.read(buffer, 0, size, offset)
      const end = bytesRead === 0 ? -1 : buffer.lastIndexOf(NEWLINE, bytesRead - 1)
      if (end !== -1 || bytesRead < size || size >= MAX_LINE_BYTES)
        return Buffer.from(buffer.subarray(0, end + 1))
    }
  }
}
