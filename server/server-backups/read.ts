import { open } from 'node:fs/promises'
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { extract, type Header } from 'tar-stream'
import type { z } from 'zod'
import { SEALED_MAGIC, unseal } from '../backups/sealing.ts'
import { SCHEMA_VERSION } from '../database/copy.ts'
import { AppError, messageOf } from '../errors.ts'
import { END_NAME, isKnownName, MANIFEST_NAME } from './contents.ts'
import { End, FORMAT, Manifest } from './manifest.ts'
import { Digest } from './digest.ts'

/** What a backup's own entries may take; nothing else is held in memory. */
const MAX_OWN_BYTES = 16 * 1024 * 1024
/** RFC 1952 section 2.3.1. */
const GZIP_MAGIC = Buffer.from([0x1f, 0x8b])

/** Thrown for a backup that is not what was written, or is none. */
export class DamagedBackup extends AppError {
  constructor(message: string, options?: ErrorOptions) {
    super('io_error', message, options)
  }
}

type Entry = Readable & { header: Header }

/** An entry of a backup, with its name judged (see `isKnownName`). */
export interface BackupEntry {
  name: string
  isFolder: boolean
  mode: number
  mtime: Date
  size: number
  pieces: AsyncIterable<Buffer>
}

/** What a reader does with a backup, in the order of the calls. */
export interface Visitor {
  /** Called first. What it throws ends the reading. */
  manifest(manifest: Manifest): Promise<void>
  /** Called for each entry. What it does not read is read for it. */
  entry(entry: BackupEntry): Promise<void>
}

/**
 * Reads a server backup to its end and compares its digest. Throws `io_error` for a file that is not a backup, is damaged or
 * incomplete, was made by a newer server, or is sealed with another passphrase than the given one.
 */
export async function readServerBackup(
  stream: AsyncIterable<Uint8Array>,
  passphrase: string | null,
  visitor: Visitor,
): Promise<Manifest> {
  const { head, rest } = await beginOf(stream)
  const isSealed = head.subarray(0, SEALED_MAGIC.length).equals(SEALED_MAGIC)
  if (!isSealed && !head.subarray(0, GZIP_MAGIC.length).equals(GZIP_MAGIC)) throw noBackup()
  if (isSealed && passphrase === null)
    throw new AppError('io_error', 'the backup is sealed: its passphrase is needed (--passphrase-file)')
  return await readArchive(isSealed ? unseal(rest, passphrase!) : rest, visitor)
}

/** Whether a file is sealed with a passphrase. Throws `io_error` when it cannot be read. */
export async function isSealed(path: string): Promise<boolean> {
  const file = await open(path).catch((cause: unknown) => {
    throw new AppError('io_error', `${path} cannot be read: ${messageOf(cause)}`, { cause })
  })
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(SEALED_MAGIC.length), position: 0 })
    return buffer.subarray(0, bytesRead).equals(SEALED_MAGIC)
  } finally {
    await file.close()
  }
}

async function readArchive(zipped: AsyncIterable<Uint8Array>, visitor: Visitor): Promise<Manifest> {
  const archive = extract()
  const reader = new Reader(visitor)
  pipeline(Readable.from(zipped, { objectMode: false }), createGunzip(), archive, () => {})
  try {
    for await (const entry of archive as AsyncIterable<Entry>) {
      await reader.read(entry)
      entry.resume()
    }
  } catch (cause) {
    if (cause instanceof AppError || isOfDisk(cause)) throw cause
    throw damaged(messageOf(cause), cause)
  }
  return reader.end()
}

class Reader {
  readonly #visitor: Visitor
  readonly #digest = new Digest()
  #manifest: Manifest | null = null
  #end: z.infer<typeof End> | null = null

  constructor(visitor: Visitor) {
    this.#visitor = visitor
  }

  async read(entry: Entry): Promise<void> {
    const { type, size, mode, mtime } = entry.header
    // A tar program writes the name of a folder with a slash at its end.
    const name = entry.header.name.replace(/\/$/, '')
    if (this.#end) throw damaged('something follows its end')
    if (name === END_NAME) return void (this.#end = parsed(End, await textOf(entry)))
    this.#digest.begin(name, size)
    if (!this.#manifest) return this.#readManifest(name, entry)
    const isFolder = type === 'directory'
    if (!isKnownName(name) || (type !== 'file' && !isFolder)) throw damaged(`it contains ${name}`)
    const digest = this.#digest
    let isRead = false
    const pieces = async function* (): AsyncGenerator<Buffer, void> {
      isRead = true
      for await (const piece of entry as AsyncIterable<Buffer>) {
        digest.add(piece)
        yield piece
      }
    }
    await this.#visitor.entry({
      name,
      isFolder,
      mode: mode & 0o777,
      mtime,
      size,
      pieces: pieces(),
    })
    if (!isRead) for await (const piece of entry as AsyncIterable<Buffer>) digest.add(piece)
  }

  /** The manifest, once everything was read. */
  end(): Manifest {
    if (!this.#manifest) throw noBackup()
    if (!this.#end) throw damaged('its end is missing')
    if (this.#end.entries !== this.#digest.entries || this.#end.sha256 !== this.#digest.end())
      throw damaged('its contents are not what was written')
    return this.#manifest
  }

  async #readManifest(name: string, entry: Entry): Promise<void> {
    if (name !== MANIFEST_NAME) throw noBackup()
    const text = await textOf(entry)
    this.#digest.add(Buffer.from(text))
    const manifest = parsed(Manifest, text)
    if (manifest.format > FORMAT || manifest.schema > SCHEMA_VERSION)
      throw new AppError(
        'io_error',
        `the backup was made by a newer server (${manifest.version}): restore it with that version or a later one`,
      )
    this.#manifest = manifest
    await this.#visitor.manifest(manifest)
  }
}

/** The first bytes of a stream, and the whole of it. */
async function beginOf(
  stream: AsyncIterable<Uint8Array>,
): Promise<{ head: Buffer; rest: AsyncGenerator<Uint8Array, void> }> {
  const iterator = stream[Symbol.asyncIterator]()
  let head = Buffer.alloc(0)
  let isAtEnd = false
  while (head.length < SEALED_MAGIC.length && !isAtEnd) {
    const next = await iterator.next()
    if (next.done) isAtEnd = true
    else head = Buffer.concat([head, next.value])
  }
  const rest = async function* (): AsyncGenerator<Uint8Array, void> {
    try {
      yield head
      for (;;) {
        const next = await iterator.next()
        if (next.done) return
        yield next.value
      }
    } finally {
      await iterator.return?.()
    }
  }
  return { head, rest: rest() }
}

async function textOf(entry: Entry): Promise<string> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of entry as AsyncIterable<Buffer>) {
    size += piece.length
    if (size > MAX_OWN_BYTES) throw damaged('it says too much about itself')
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}

function parsed<T>(schema: { parse(value: unknown): T }, text: string): T {
  try {
    return schema.parse(JSON.parse(text))
  } catch (cause) {
    throw damaged('what it says about itself cannot be read', cause)
  }
}

function damaged(how: string, cause?: unknown): DamagedBackup {
  return new DamagedBackup(`the backup is damaged or incomplete: ${how}`, { cause })
}

function noBackup(): DamagedBackup {
  return new DamagedBackup('the file is not a backup of a Deployer server')
}

/** Whether something is wrong with a disk rather than with the backup. */
function isOfDisk(error: unknown): boolean {
  return typeof (error as NodeJS.ErrnoException).syscall === 'string'
}
