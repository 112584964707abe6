import { randomBytes } from 'node:crypto'
import { open, rm, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addAbortSignal, type Readable } from 'node:stream'
import { COMPANIONS } from '#daemon/sources/companions.ts'
import { EXIT, Fault } from '../../fault.ts'
import { pack, unpackedBytes, type Packed } from './archive.ts'
import type { Contents, Entry } from './entries.ts'
import { explainTooLarge } from './largest.ts'

/** The largest upload that the server takes. */
export const LIMIT_BYTES = 512 * 1024 * 1024

/** Where an archive whose only top entry is a folder has it, because the server takes that folder for the source. */
const TOP = 'source'

/** An archive to send. */
export interface Load {
  body: Readable
  /** Null for one that is packed while it is sent. */
  bytes: number | null
}

/**
 * Packs what is in a folder. What is small enough whatever comes of compressing it is packed while it is sent; the rest goes to
 * a temporary file first. Throws a Fault for more than the server takes. `onRead` gets the bytes of files as they are read.
 */
export async function load(
  folder: string,
  contents: Contents,
  onRead: (bytes: number) => void,
  limitBytes: number = LIMIT_BYTES,
  signal?: AbortSignal,
): Promise<Load> {
  const { entries } = contents
  const packed: Packed = { folder, entries, top: isOnlyFolder(entries) ? TOP : '' }
  const body = pack(packed, onRead)
  if (mostPacked(unpackedBytes(packed)) <= limitBytes) return { body, bytes: null }
  try {
    const reading = signal ? addAbortSignal(signal, body) : body
    return await spool(reading, () => explainTooLarge(contents, limitBytes), limitBytes)
  } finally {
    body.destroy()
  }
}

/** The most that bytes can become, by zlib's `deflateBound` with the header and trailer of gzip (RFC 1952). */
function mostPacked(bytes: number): number {
  return bytes + Math.floor(bytes / 2 ** 12) + Math.floor(bytes / 2 ** 14) + Math.floor(bytes / 2 ** 25) + 31
}

/** Whether the server would skip the top folder of an archive with these entries. */
function isOnlyFolder(entries: Iterable<Entry>): boolean {
  const tops = new Map<string, boolean>()
  for (const { path, kind } of entries) {
    const slash = path.indexOf('/')
    const name = slash === -1 ? path : path.slice(0, slash)
    if (!COMPANIONS.test(name)) tops.set(name, slash !== -1 || kind === 'folder')
    if (tops.size > 1) return false
  }
  return tops.values().next().value === true
}

async function spool(body: Readable, tooLarge: () => Fault, limitBytes: number): Promise<Load> {
  const file = await openTemporary()
  try {
    let bytes = 0
    for await (const piece of body as AsyncIterable<Buffer>) {
      bytes += piece.length
      if (bytes > limitBytes) throw tooLarge()
      await file.write(piece)
    }
    return { body: file.createReadStream({ start: 0 }), bytes }
  } catch (error) {
    await file.close()
    throw explain(error)
  }
}

/** Opens a file that has no name any more, so that it goes with this program however that ends. */
async function openTemporary(): Promise<FileHandle> {
  const path = join(tmpdir(), `deployer-${randomBytes(8).toString('hex')}`)
  try {
    const file = await open(path, 'wx+', 0o600)
    await rm(path)
    return file
  } catch (error) {
    throw explain(error)
  }
}

function explain(error: unknown): unknown {
  const { code, syscall, message } = error as NodeJS.ErrnoException
  if (error instanceof Fault || syscall === undefined) return error
  const why = code === 'ENOSPC' || code === 'EDQUOT' ? 'the disk is full' : message
  return new Fault(
    EXIT.failed,
    `cannot pack the folder in ${tmpdir()}: ${why}; set TMPDIR to a folder with more room`,
  )
}
