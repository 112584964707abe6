import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

/** Only the owner can read it. */
export const PRIVATE_FILE_MODE = 0o600
export const PRIVATE_DIRECTORY_MODE = 0o700

/**
 * Writes a file under a temporary name, mode 0600, and renames it, so that a reader sees the old content or the new, never a
 * part.
 */
export function writePrivateFile(path: string, content: string | Uint8Array): void {
  makePrivateDirectory(dirname(path))
  const temporary = `${path}.${process.pid}.new`
  const file = openSync(temporary, 'w', PRIVATE_FILE_MODE)
  try {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content
    for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(temporary, path)
}

/**
 * Creates a directory and its parents, mode 0700. Does so level by level, because node's `recursive` never ends when a file
 * system reports ENOENT below an existing folder, as /proc does.
 */
export function makePrivateDirectory(path: string): void {
  if (existsSync(path)) return
  makePrivateDirectory(dirname(path))
  mkdirSync(path, { mode: PRIVATE_DIRECTORY_MODE })
}
