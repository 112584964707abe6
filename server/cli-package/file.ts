import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** The client as a package of npm, as the build made it next to the server's program. */
export interface CliPackage {
  bytes: Buffer
  /** In hex. */
  sha256: string
}

let read: Promise<CliPackage> | undefined

/**
 * The client that belongs to this server. It is kept in memory, some hundred KiB, so that it stays the one whose digest was
 * told, and clients that do not read share the same bytes.
 */
export function cliPackage(): Promise<CliPackage> {
  if (!read) {
    read = readPackage()
    read.catch(() => (read = undefined))
  }
  return read
}

async function readPackage(): Promise<CliPackage> {
  const bytes = await readFile(join(dirname(process.argv[1]!), 'cli.tgz'))
  return { bytes, sha256: createHash('sha256').update(bytes).digest('hex') }
}
