import { once } from 'node:events'
import { readSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { pack, type Header, type Pack } from 'tar-stream'
import { AppError } from '../errors.ts'
import { giveBack } from '../memory.ts'
import {
  backupName,
  DATABASE_NAME,
  END_NAME,
  isGone,
  listItems,
  MANIFEST_NAME,
  SETTINGS_NAME,
  type Item,
  type Wanted,
} from './contents.ts'
import { Digest } from './digest.ts'
import type { Manifest } from './manifest.ts'
import { zip } from './zip.ts'

/** Read from a file at once. */
const PIECE_BYTES = 256 * 1024

/** What a backup is made of. */
export interface Source extends Wanted {
  manifest: Manifest
  /** A copy of the database, as of one moment. */
  database: string
  /** The text of the settings of `deployer install`; null when it is not installed. */
  savedSettings: string | null
}

/**
 * Yields the bytes of a server backup, a `.tar.gz`. Files that are removed meanwhile are left out; of one that grows, what it
 * had when it was opened is taken. Calls `report` with the bytes of contents so far.
 */
export async function* packServer(
  source: Source,
  report: (bytes: number) => void = () => {},
): AsyncGenerator<Buffer, void> {
  const archive = pack()
  const ended = new AbortController()
  const writer = new Writer(archive, report, ended.signal)
  const filling = fill(writer, source).then(
    () => archive.finalize(),
    (error: Error) => archive.destroy(error),
  )
  try {
    yield* zip(givingBack(archive as AsyncIterable<Buffer>))
  } finally {
    ended.abort()
    archive.destroy()
    await filling
  }
}

/** Yields the bytes of a server backup as `packServer` does, sealed unless there is no passphrase. */
export async function* packSealed(
  source: Source,
  passphrase: string | null,
  report?: (bytes: number) => void,
): AsyncGenerator<Buffer, void> {
  const packed = packServer(source, report)
  if (passphrase === null) return yield* packed
  // Its packages would take 10 MiB of the thread's memory for nothing.
  const { seal } = await import('../backups/sealing.ts')
  yield* seal(packed, passphrase)
}

async function fill(writer: Writer, source: Source): Promise<void> {
  await writer.text(MANIFEST_NAME, JSON.stringify(source.manifest, null, 2))
  if (!(await writer.file({ name: DATABASE_NAME, path: source.database, isFolder: false, size: 0 })))
    throw new AppError('io_error', 'the copy of the database was removed meanwhile: make another backup')
  if (source.savedSettings !== null) await writer.text(SETTINGS_NAME, source.savedSettings)
  const missing = new Set(source.backups.map(backupName))
  for await (const item of listItems(source)) {
    if (item.isFolder) await writer.folder(item)
    else if (await writer.file(item)) missing.delete(item.name)
  }
  // The manifest has promised them.
  if (missing.size > 0)
    throw new AppError(
      'io_error',
      'a backup of a datastore or a disk was removed meanwhile: make another one',
    )
  await writer.end()
}

/** Yields pieces, each of which whoever takes the next has done with. */
export async function* givingBack(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  for await (const piece of pieces) {
    yield piece
    giveBack(piece)
  }
}

/** Reads in this thread, so that the threads that serve the others do not work for one of lower priority. */
function* piecesOf(file: number, size: number): Generator<Buffer, void> {
  for (let at = 0; at < size;) {
    const piece = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, size - at))
    const length = readSync(file, piece, 0, piece.length, at)
    // A file that became shorter meanwhile: its size is announced.
    if (length === 0) piece.fill(0)
    const taken = piece.subarray(0, length || piece.length)
    at += taken.length
    yield taken
  }
}

/** Writes entries at the pace at which they are taken. */
class Writer {
  readonly #archive: Pack
  readonly #digest = new Digest()
  readonly #report: (bytes: number) => void
  /** Aborts when nobody takes entries any more. */
  readonly #ended: AbortSignal
  #bytes = 0

  constructor(archive: Pack, report: (bytes: number) => void, ended: AbortSignal) {
    this.#archive = archive
    this.#report = report
    this.#ended = ended
  }

  async text(name: string, text: string): Promise<void> {
    const bytes = Buffer.from(text)
    await this.#entry({ name, size: bytes.length, mode: 0o600 }, [bytes])
  }

  async folder({ name }: Item): Promise<void> {
    await this.#entry({ name, type: 'directory', mode: 0o700, size: 0 }, [])
  }

  /** A file that was removed is left out; returns false then. */
  async file({ name, path }: Item): Promise<boolean> {
    const file = await open(path).catch((error: unknown) => {
      if (isGone(error)) return null
      throw error
    })
    if (!file) return false
    try {
      const { size, mode, mtime } = await file.stat()
      await this.#entry({ name, size, mode: mode & 0o777, mtime }, piecesOf(file.fd, size))
      return true
    } finally {
      await file.close()
    }
  }

  async end(): Promise<void> {
    const { entries } = this.#digest
    await this.#put(END_NAME, JSON.stringify({ entries, sha256: this.#digest.end() }))
  }

  async #put(name: string, text: string): Promise<void> {
    const bytes = Buffer.from(text)
    const entry = this.#archive.entry({ name, size: bytes.length, mode: 0o600 })
    entry.end(bytes)
    await once(entry, 'finish', { signal: this.#ended })
  }

  async #entry(
    header: Partial<Header> & Pick<Header, 'name'> & { size: number },
    pieces: Iterable<Buffer> | AsyncIterable<Buffer>,
  ): Promise<void> {
    const entry = this.#archive.entry(header)
    this.#digest.begin(header.name, header.size)
    for await (const piece of pieces) {
      this.#digest.add(piece)
      this.#bytes += piece.length
      this.#report(this.#bytes)
      if (!entry.write(piece)) await once(entry, 'drain', { signal: this.#ended })
    }
    const finished = once(entry, 'finish', { signal: this.#ended })
    entry.end(null)
    await finished
  }
}
