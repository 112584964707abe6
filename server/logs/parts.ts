import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'

/**
 * A log is stored in parts: files of whole lines, each a LogLine as JSON. The name of a part contains the number of its
 * first line, counted from the beginning of the log, and the day (UTC) on which it was begun. Closed parts are compressed.
 */
export interface Part {
  first: number
  day: string
  isPacked: boolean
  path: string
}

/** A part as a reader found it, with the number of bytes if it is still growing. */
export interface Slice extends Part {
  bytes: number | null
}

const NUMBER_DIGITS = 15
const NAME = /^(\d{15})\.(\d{4}-\d{2}-\d{2})\.ndjson(\.gz)?$/
/** More than any part has uncompressed. Keeps a file that something else put there from filling the memory. */
const MAX_PART_BYTES = 64 * 1024 * 1024

/** Unpacked at once; with node's default of 16 KiB, joining the pieces takes as long as unpacking them. */
const CHUNK_BYTES = 256 * 1024

const unpack = promisify(gunzip)

/** The path of a new part. */
export function partPath(directory: string, first: number, day: string): string {
  return join(directory, `${String(first).padStart(NUMBER_DIGITS, '0')}.${day}.ndjson`)
}

/** The parts of a log, oldest first. When a part exists packed and unpacked, only the packed one, which is complete. */
export function listParts(directory: string): Part[] {
  const parts = new Map<number, Part>()
  for (const name of namesIn(directory).sort()) {
    const [, first, day, packed] = NAME.exec(name) ?? []
    if (first === undefined || day === undefined) continue
    const part = { first: Number(first), day, isPacked: packed !== undefined, path: join(directory, name) }
    parts.set(part.first, part)
  }
  return [...parts.values()]
}

/**
 * The content of a part as it was listed, unpacked; null when it is gone. Also finds a part that has grown or was packed since.
 */
export async function readPart({ path, isPacked, bytes }: Slice): Promise<Buffer | null> {
  try {
    const stored = await readFile(path)
    const content = isPacked
      ? await unpack(stored, { maxOutputLength: MAX_PART_BYTES, chunkSize: CHUNK_BYTES })
      : stored
    return bytes === null ? content : content.subarray(0, bytes)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return isPacked ? null : readPart({ path: `${path}.gz`, isPacked: true, bytes } as Slice)
  }
}

/** Whether the error means that a part can never be unpacked, because it is damaged or too large. */
export function isBroken(error: unknown): boolean {
  const { code = '' } = error as NodeJS.ErrnoException
  return code.startsWith('Z_') || code === 'ERR_BUFFER_TOO_LARGE'
}

/** The day of a time, in UTC. */
export function dayOf(moment: number): string {
  return new Date(moment).toISOString().slice(0, 'yyyy-mm-dd'.length)
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}
