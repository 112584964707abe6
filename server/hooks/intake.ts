import { createHash, createHmac } from 'node:crypto'
import { closeSync, fstatSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { PRIVATE_FILE_MODE } from '../files.ts'
import { Gathered } from '../http/gathered.ts'
import { randomHex } from '../ids.ts'

/** Most pushes are under 100 KiB. The rest of an unauthenticated body beyond this size is kept in a file. */
const IN_MEMORY_BYTES = 256 * 1024
const NAME_BYTES = 10

/** The body of a delivery, received but not parsed. */
export interface Intake {
  /** HMAC-SHA256 with each of the secrets, in hex. */
  hmacs: string[]
  /** SHA-256, in hex. */
  digest: string
  /** Returns the whole body. */
  read(): Buffer
}

/**
 * Receives the body of a delivery and hashes it on the way. A large body is written to a file in `folder` that is unlinked
 * as soon as it is open, so that nothing is left of it whatever happens. Calls `use` once the body is complete.
 */
export async function withIntake<T>(
  pieces: AsyncIterable<Buffer>,
  secrets: readonly string[],
  folder: string,
  use: (intake: Intake) => T,
): Promise<T> {
  const hmacs = secrets.map((secret) => createHmac('sha256', secret))
  const digest = createHash('sha256')
  let gathered = new Gathered()
  let file: number | undefined
  try {
    for await (const piece of pieces) {
      for (const hmac of hmacs) hmac.update(piece)
      digest.update(piece)
      gathered.add(piece)
      if (gathered.bytes.length < IN_MEMORY_BYTES) continue
      file ??= openNameless(folder)
      writeWhole(file, gathered.bytes)
      gathered = new Gathered()
    }
    const tail = gathered.bytes
    const read = () => (file === undefined ? tail : Buffer.concat([readWhole(file), tail]))
    return use({ hmacs: hmacs.map((hmac) => hmac.digest('hex')), digest: digest.digest('hex'), read })
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

function openNameless(folder: string): number {
  const path = join(folder, randomHex(NAME_BYTES))
  const file = openSync(path, 'wx+', PRIVATE_FILE_MODE)
  unlinkSync(path)
  return file
}

function writeWhole(file: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written)
}

function readWhole(file: number): Buffer {
  const bytes = Buffer.allocUnsafe(fstatSync(file).size)
  for (let at = 0; at < bytes.length;) {
    const count = readSync(file, bytes, at, bytes.length - at, at)
    if (count === 0)
      throw new Error('the temporary file of a delivery is shorter than what was written to it')
    at += count
  }
  return bytes
}
