import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { messageOf } from '../errors.ts'
import { makePrivateDirectory } from '../files.ts'
import { logger } from '../log.ts'
import { countLines, LineFile } from './line-file.ts'
import { dayOf, listParts, partPath, readPart, type Slice } from './parts.ts'

const log = logger('logs')

interface OpenPart {
  file: LineFile
  path: string
  day: string
  bytes: number
}

/**
 * The end of a log on the disk: the part being written, and the number of the next line. Only one caller may write at a
 * time.
 */
export class LogEnd {
  readonly #directory: string
  readonly #maxPartBytes: number
  readonly #partClosed: () => void
  #part: OpenPart | null = null
  /** Null until the existing parts have been read. */
  #next: number | null = null
  #opening: Promise<void> | null = null
  /** Path of the part being written. Set before the file is open, so that nobody takes the part for a closed one. */
  #path: string | null = null

  constructor(directory: string, maxPartBytes: number, partClosed: () => void) {
    this.#directory = directory
    this.#maxPartBytes = maxPartBytes
    this.#partClosed = partClosed
  }

  /** The part being written; null when there is none. */
  get path(): string | null {
    return this.#path
  }

  /** The day on which that part was begun. */
  get day(): string | null {
    return this.#part?.day ?? null
  }

  /** The number of the next line. Valid after `opened`. */
  get next(): number {
    return this.#next!
  }

  /** The parts that are stored now. */
  slices(): Slice[] {
    return listParts(this.#directory).map((part) => ({
      ...part,
      bytes: part.path === this.#part?.path ? this.#part.bytes : null,
    }))
  }

  /**
   * Finds the end of what an earlier run stored. Done only once: it cuts off a torn last line, and later that line may be
   * one being written.
   */
  opened(): Promise<void> {
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = null
      throw error
    })
    return this.#opening
  }

  /**
   * Appends as many of the lines as the part and the disk have room for, at least one, and calls `kept` with their number, in
   * the same turn of the event loop in which they become part of the log. Returns whether the disk took all that it was
   * given; throws when it took none.
   */
  async append(lines: readonly string[], kept: (count: number) => void): Promise<boolean> {
    const part = await this.#current()
    const wanted = lines.slice(0, countWithin(lines, this.#maxPartBytes - part.bytes))
    const { bytes, lines: count, fault } = await part.file.append(Buffer.from(wanted.join('')))
    if (count === 0) throw fault
    part.bytes += bytes
    this.#next! += count
    kept(count)
    if (part.bytes >= this.#maxPartBytes) await this.close()
    return fault === null
  }

  /** Closes the part being written, so that it can be packed. */
  async close(): Promise<void> {
    const part = this.#part
    this.#part = null
    this.#path = null
    // If closing fails, the next reader of the part handles what is on the disk.
    await part?.file.close().catch(() => {})
    if (part) this.#partClosed()
  }

  /** The part to write to: the last one if it is from today and not full, otherwise a new one. */
  async #current(): Promise<OpenPart> {
    await this.opened()
    const day = dayOf(Date.now())
    if (this.#part && this.#part.day !== day) await this.close()
    if (!this.#part) {
      makePrivateDirectory(this.#directory)
      const path = partPath(this.#directory, this.#next!, day)
      this.#path = path
      this.#part = { file: await LineFile.open(path), path, day, bytes: 0 }
    }
    return this.#part
  }

  async #open(): Promise<void> {
    const last = listParts(this.#directory).at(-1)
    if (!last) {
      this.#next = 0
      return
    }
    const isGrowing = !last.isPacked && last.day === dayOf(Date.now())
    const file = last.isPacked ? null : await LineFile.open(last.path)
    const content = last.isPacked ? null : await readPart({ ...last, bytes: null })
    const lines = last.isPacked ? await countPacked(last.path) : content ? countLines(content) : 0
    if (!file || !isGrowing || !content || content.length >= this.#maxPartBytes) await file?.close()
    else {
      this.#path = last.path
      this.#part = { file, path: last.path, day: last.day, bytes: content.length }
    }
    this.#next = last.first + lines
  }
}

/** How many lines fit into a number of bytes; at least one, so a part exceeds its limit by at most one line. */
function countWithin(lines: readonly string[], bytes: number): number {
  let length = 0
  const end = lines.findIndex((line) => (length += Buffer.byteLength(line)) > bytes)
  return end === -1 ? lines.length : end + 1
}

/** How many readable lines a packed part has; at least one, so that the next part gets another name. */
async function countPacked(path: string): Promise<number> {
  let count = 0
  await pipeline(createReadStream(path), createGunzip(), async (pieces: AsyncIterable<Buffer>) => {
    for await (const piece of pieces) count += countLines(piece)
  }).catch((error: unknown) =>
    log.warn('a part of a service log cannot be read', { path, error: messageOf(error) }),
  )
  return Math.max(1, count)
}
