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
 * through one buffer, so that memory does not grow with their size or number.
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
  readonly #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES)
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
      if (entry.kind === 'file') await this.#file(entry)
      else await this.#plain(placed(entry, this.#packed.top))
    }
    await this.#zeros(END_BYTES)
    await this.#flush()
  }

  async #plain(entry: Entry): Promise<void> {
    await this.#records(recordsOf(entry, 0))
    await this.#makeRoom(BLOCK_BYTES)
    this.#header(entry, { size: 0, isExecutable: false })
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
      const isScript = size > 1 && this.#buffer[start] === HASH && this.#buffer[start + 1] === BANG
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

  #open(path: string): { file: number; size: number } {
    try {
      const file = openSync(join(this.#packed.folder, path), READ)
      const facts = fstatSync(file)
      if (facts.isFile()) return { file, size: facts.size }
      closeSync(file)
    } catch (error) {
      if (!['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO'].includes((error as NodeJS.ErrnoException).code ?? ''))
        throw unreadable(path, error)
    }
    throw changed(path)
  }

  /** Reads a part of a file into the buffer; all that is left of it, if there is room. */
  #read(file: number, path: string, at: number, left: number): number {
    const most = Math.min(left, BUFFER_BYTES - at)
    if (most === 0) return 0
    let bytes: number
    try {
      bytes = readSync(file, this.#buffer, at, most, null)
    } catch (error) {
      throw unreadable(path, error)
    }
    if (bytes === 0) throw changed(path)
    this.#onRead(bytes)
    return bytes
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

  /** Waits until the buffer was compressed, since it is used again. */
  async #flush(): Promise<void> {
    const piece = this.#buffer.subarray(0, this.#filled)
    this.#filled = 0
    const written = new Promise<void>((resolve) => {
      this.#gzip.write(piece, () => resolve())
    })
    await Promise.race([written, this.#closed])
  }
}
