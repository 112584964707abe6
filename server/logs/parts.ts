import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'

/**
 * A log is kept in parts, files of whole lines, each a LogLine as JSON. A part is named by the number of its first line,
 * counted from the beginning of the log, and by the day (UTC) on which it was begun; a closed one is compressed.
 */
export interface Part {
  first: number
  day: string
  isPacked: boolean
  path: string
}

/** A part as a reader found it: of one that still grows, so many bytes. */
export interface Slice extends Part {
  bytes: number | null
}

const NUMBER_DIGITS = 15
const NAME = /^(\d{15})\.(\d{4}-\d{2}-\d{2})\.ndjson(\.gz)?$/
/** More than any part has in it unpacked: a file that was put there by somebody else does not fill the memory. */
const MAX_PART_BYTES = 64 * 1024 * 1024

const unpack = promisify(gunzip)

/** The path of a part that is begun. */
export function partPath(directory: string, first: number, day: string): string {
  return join(directory, `${String(first).padStart(NUMBER_DIGITS, '0')}.${day}.ndjson`)
}

/** The parts of a log, oldest first; of one that is there packed and unpacked, the packed one, which is whole. */
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

/** The whole of a part, unpacked; null when it is there no more. A part may have been packed since it was found. */
export async function readPart({ path, isPacked, bytes }: Slice): Promise<Buffer | null> {
  try {
    if (isPacked) return await unpack(await readFile(path), { maxOutputLength: MAX_PART_BYTES })
    const content = await readFile(path)
    return bytes === null ? content : content.subarray(0, bytes)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return isPacked ? null : readPart({ path: `${path}.gz`, isPacked: true, bytes } as Slice)
  }
}

/** Whether a part was met that can never be unpacked, as it is damaged or too large. */
export function isBroken(error: unknown): boolean {
  const { code = '' } = error as NodeJS.ErrnoException
  return code.startsWith('Z_') || code === 'ERR_BUFFER_TOO_LARGE'
}

/** The day of a moment, in UTC. */
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
