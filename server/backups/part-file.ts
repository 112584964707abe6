import { createHash } from 'node:crypto'
import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { explainFullDisk } from '../errors.ts'
import { makePrivateDirectory, PRIVATE_FILE_MODE } from '../files.ts'

/** The suffix of a file that is being written. */
export const PART = '.part'

/** The size and checksum of a file. */
export interface Written {
  size_bytes: number
  sha256: string
}

/**
 * Writes a file under a temporary name, so that a file with the final name is always complete; `keepPart` renames it. Throws
 * what the stream throws, or `io_error`.
 */
export async function writePart(path: string, chunks: AsyncIterable<Buffer>): Promise<Written> {
  makePrivateDirectory(dirname(path))
  try {
    const file = await open(`${path}${PART}`, 'w', PRIVATE_FILE_MODE)
    try {
      const hash = createHash('sha256')
      let size = 0
      for await (const chunk of chunks) {
        hash.update(chunk)
        for (let written = 0; written < chunk.length;)
          written += (await file.write(chunk, written)).bytesWritten
        size += chunk.length
      }
      await file.sync()
      return { size_bytes: size, sha256: hash.digest('hex') }
    } finally {
      await file.close()
    }
  } catch (error) {
    throw explainFullDisk(error)
  }
}

/** Gives the written file its final name, durably. */
export async function keepPart(path: string): Promise<void> {
  await rename(`${path}${PART}`, path)
  const folder = await open(dirname(path))
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
