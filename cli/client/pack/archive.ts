import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { createGzip, type Gzip } from 'node:zlib'
import type { Entry } from './entries.ts'
import { changed, unreadable } from './faults.ts'
import { BLOCK_BYTES, bytesOf, END_BYTES, paddingOf, recordsOf, writeHeader } from './tar.ts'

/** Large enough that compressing takes much longer than handing a piece over. */
const BUFFER_BYTES = 256 * 1024
/** Each piece is a buffer of its own, which waits for the collector: with node's 16 KiB twice as many bytes do. */
const PACKED_PIECE_BYTES = 8 * 1024

/** A link in the place of a file is not followed, and a pipe is not waited for. Windows has neither. */
const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
const HASH = 0x23
const BANG = 0x21

/** What an archive is made of. */
export interface Packed {
  folder: string
  entries: Iterable<Entry>
  /** The folder of the archive that the entries are in; empty for its root. */
  top: string
}

/**
 * Packs a folder as a `.tar.gz`. The same entries give the same bytes. `onRead` gets the bytes of files that were read since
 * its last call. The stream ends with a Fault for a file that cannot be read or changes meanwhile. The bytes of all files go
 * through two buffers, so that memory does not grow with their size or number.
 */
export function pack(packed: Packed, onRead: (bytes: number) => void): Readable {
  const gzip = createGzip({ chunkSize: PACKED_PIECE_BYTES })
  new Filler(packed, gzip, onRead).run().then(
    () => gzip.end(),
    (error: unknown) => gzip.destroy(error instanceof Error ? error : new Error(String(error))),
  )
  return gzip
}

/** How large the archive is before it is compressed. */
export function unpackedBytes({ entries, top }: Packed): number {
  let sum = END_BYTES
  for (const entry of entries) sum += bytesOf(placed(entry, top))
  return sum
}

function placed(entry: Entry, top: string): Entry {
  return top === '' ? entry : { ...entry, path: `${top}/${entry.path}` }
}

class Filler {
  readonly #packed: Packed
  readonly #gzip: Gzip
  readonly #onRead: (bytes: number) => void
  readonly #closed: Promise<void>
  /** What is filled now, and what is compressed meanwhile. */
  #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES)
  #other = Buffer.allocUnsafeSlow(BUFFER_BYTES)
  #compressed: Promise<void> = Promise.resolve()
  /** How much of the buffer is filled. */
  #filled = 0

  constructor(packed: Packed, gzip: Gzip, onRead: (bytes: number) => void) {
    this.#packed = packed
    this.#gzip = gzip
    this.#onRead = onRead
    this.#closed = new Promise((resolve) => gzip.once('close', resolve))
  }

  async run(): Promise<void> {
    for (const entry of this.#packed.entries) {
      if (this.#gzip.destroyed) return
      if (entry.kind === 'file') {
        if (!this.#smallFile(entry)) await this.#file(entry)
      } else await this.#plain(placed(entry, this.#packed.top))
    }
    await this.#zeros(END_BYTES)
    await this.#flush()
  }

  async #plain(entry: Entry): Promise<void> {
    await this.#records(recordsOf(entry, 0))
    await this.#makeRoom(BLOCK_BYTES)
    this.#header(entry, { size: 0, isExecutable: false })
  }

  /**
   * Packs a file that fits into what is left of the buffer, with the fewest calls of the system; false for any other. A read of
   * one byte more than the file had shows that it has not changed, so that it need not be looked at again.
   */
  #smallFile(entry: Entry): boolean {
    const { path, size } = entry
    const room = BUFFER_BYTES - this.#filled - 2 * BLOCK_BYTES
    if (size >= room) return false
    const named = placed(entry, this.#packed.top)
    if (recordsOf(named, size).length > 0) return false
    const start = this.#filled + BLOCK_BYTES
    const file = this.#openFile(path)
    try {
      if (this.#readAt(file, path, start, size + 1) !== size) return false
    } finally {
      closeSync(file)
    }
    this.#onRead(size)
    const isScript = this.#isScript(start, size)
    this.#header(named, { size, isExecutable: entry.isExecutable || isScript })
    this.#buffer.fill(0, start + size, start + size + paddingOf(size))
    this.#filled = start + size + paddingOf(size)
    return true
  }

  async #file(entry: Entry): Promise<void> {
    const { file, size } = this.#open(entry.path)
    try {
      const named = placed(entry, this.#packed.top)
      await this.#records(recordsOf(named, size))
      // The first bytes say whether it is a script, so the header is written after them.
      await this.#makeRoom(2 * BLOCK_BYTES)
      const start = this.#filled + BLOCK_BYTES
      let left = size - this.#read(file, entry.path, start, size)
      const isScript = this.#isScript(start, size)
      const content = size - left
      this.#header(named, { size, isExecutable: entry.isExecutable || isScript })
      this.#filled += content
      while (left > 0) {
        await this.#makeRoom(BLOCK_BYTES)
        const bytes = this.#read(file, entry.path, this.#filled, left)
        this.#filled += bytes
        left -= bytes
      }
      if (fstatSync(file).size !== size) throw changed(entry.path)
      await this.#zeros(paddingOf(size))
    } finally {
      closeSync(file)
    }
  }

  #isScript(start: number, size: number): boolean {
    return size > 1 && this.#buffer[start] === HASH && this.#buffer[start + 1] === BANG
  }

  #open(path: string): { file: number; size: number } {
    const file = this.#openFile(path)
    const facts = fstatSync(file)
    if (facts.isFile()) return { file, size: facts.size }
    closeSync(file)
    throw changed(path)
  }

  #openFile(path: string): number {
    try {
      return openSync(join(this.#packed.folder, path), READ)
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO'].includes(code)) throw changed(path)
      throw unreadable(path, error)
    }
  }

  /** Reads a part of a file into the buffer; all that is left of it, if there is room. */
  #read(file: number, path: string, at: number, left: number): number {
    const most = Math.min(left, BUFFER_BYTES - at)
    if (most === 0) return 0
    const bytes = this.#readAt(file, path, at, most)
    if (bytes === 0) throw changed(path)
    this.#onRead(bytes)
    return bytes
  }

  #readAt(file: number, path: string, at: number, most: number): number {
    try {
      return readSync(file, this.#buffer, at, most, null)
    } catch (error) {
      throw unreadable(path, error)
    }
  }

  #header(entry: Entry, headed: { size: number; isExecutable: boolean }): void {
    writeHeader(this.#buffer, this.#filled, entry, headed)
    this.#filled += BLOCK_BYTES
  }

  async #records(blocks: Buffer): Promise<void> {
    if (blocks.length === 0) return
    await this.#makeRoom(blocks.length)
    blocks.copy(this.#buffer, this.#filled)
    this.#filled += blocks.length
  }

  async #zeros(bytes: number): Promise<void> {
    await this.#makeRoom(bytes)
    this.#buffer.fill(0, this.#filled, this.#filled + bytes)
    this.#filled += bytes
  }

  async #makeRoom(bytes: number): Promise<void> {
    if (this.#filled + bytes > BUFFER_BYTES) await this.#flush()
  }

  /** Has the buffer compressed while the other one is filled, once that was compressed itself. */
  async #flush(): Promise<void> {
    const piece = this.#buffer.subarray(0, this.#filled)
    const before = this.#compressed
    this.#compressed = new Promise((resolve) => this.#gzip.write(piece, () => resolve()))
    this.#filled = 0
    ;[this.#buffer, this.#other] = [this.#other, this.#buffer]
    await Promise.race([before, this.#closed])
  }
}
