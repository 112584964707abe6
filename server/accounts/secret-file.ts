import { chmodSync, existsSync, readFileSync, statSync } from 'node:fs'
import { PRIVATE_FILE_MODE, writePrivateFile } from '../files.ts'

/** The one line of a secret's file, or undefined when there is no file or nothing in it. */
export function readSecretFile(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8').trim() || undefined : undefined
}

/** The secret in a file, which is made when it is not there, and taken away from everyone but its owner. */
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
