import { chmodSync, existsSync, readFileSync, statSync } from 'node:fs'
import { PRIVATE_FILE_MODE, writePrivateFile } from '../files.ts'

/** The one line of a secret's file, or undefined when the file is missing or empty. */
export function readSecretFile(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8').trim() || undefined : undefined
}

/** Returns the secret in a file; creates the file if it is missing, and makes it readable by its owner only. */
export function ensureSecretFile(path: string, make: () => string): string {
  const known = readSecretFile(path)
  if (known === undefined) {
    const secret = make()
    writePrivateFile(path, `${secret}\n`)
    return secret
  }
  if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, PRIVATE_FILE_MODE)
  return known
}
