import { createReadStream } from 'node:fs'
import { wrong } from '../fault.ts'

/** The word for standard input in place of a file. */
export const STANDARD_INPUT = '-'

/** The same limit as for the body of a request. */
export const MAX_TEXT_BYTES = 2 * 1024 * 1024

/** Reads a file, or standard input for `-`. Throws Fault for what cannot be read or is too long. */
export async function readBytes(file: string, maxBytes: number = MAX_TEXT_BYTES): Promise<Buffer> {
  const stream = file === STANDARD_INPUT ? process.stdin : createReadStream(file)
  const pieces: Buffer[] = []
  let size = 0
  try {
    for await (const piece of stream as AsyncIterable<Buffer>) {
      size += piece.length
      if (size > maxBytes) break
      pieces.push(piece)
    }
  } catch (cause) {
    throw wrong(`${nameOf(file)} cannot be read: ${reasonOf(cause as NodeJS.ErrnoException)}`, { cause })
  }
  if (size > maxBytes) throw wrong(`${nameOf(file)} is longer than ${maxBytes / (1024 * 1024)} MiB`)
  return Buffer.concat(pieces)
}

/** Reads text as `readBytes`. Throws Fault for what is not UTF-8; a byte order mark is left out. */
export async function readText(file: string, maxBytes: number = MAX_TEXT_BYTES): Promise<string> {
  const bytes = await readBytes(file, maxBytes)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw wrong(`${nameOf(file)} is not text in UTF-8`, { cause })
  }
}

function nameOf(file: string): string {
  return file === STANDARD_INPUT ? 'standard input' : file
}

/** Why a file cannot be read. */
export function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'it does not exist'
  if (code === 'EISDIR') return 'it is a folder'
  return code === 'EACCES' ? 'permission denied' : message
}
