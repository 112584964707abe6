import {
  closeSync,
  copyFileSync,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { log, messageOf } from '../log.ts'

/** The size at which the log is moved to `proxy.log.1`, replacing it. */
const MAX_LOG_BYTES = 5 * 1024 * 1024

/**
 * Writes a file so that readers see either the old or the new content. It does not wait for the disk: after a crash of the
 * host nothing serves, and the control plane sends everything that matters again.
 */
export function writeAtomically(file: string, text: string): void {
  const temporary = `${file}.${process.pid}.tmp`
  const descriptor = openSync(temporary, 'w', 0o600)
  try {
    writeFileSync(descriptor, text)
  } finally {
    closeSync(descriptor)
  }
  renameSync(temporary, file)
}

/** Returns the JSON of a file; null if there is none or it is broken, which is logged. */
export function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      log('warn', `cannot read ${file}`, { error: messageOf(error) })
    return null
  }
}

/** Limits the size of the log. All processes append to one open file, so it is copied and truncated, not renamed. */
export function rotateLog(directory: string): void {
  const file = join(directory, 'proxy.log')
  try {
    if (fstatSync(process.stderr.fd).size <= MAX_LOG_BYTES) return
    copyFileSync(file, `${file}.1`)
    truncateSync(file)
  } catch (error) {
    log('warn', 'cannot rotate the log', { error: messageOf(error) })
  }
}
