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

/** The log's size at which it becomes `proxy.log.1`, which it replaces. */
const MAX_LOG_BYTES = 5 * 1024 * 1024

/**
 * Writes a file so that whoever reads it finds either the old or the new content. The disk is not waited for: after a
 * crash of the host nothing serves, and the control plane sends anew what matters.
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

/** The JSON of a file; null when there is none or it is broken, which is logged. */
export function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      log('warn', `${file} is not read`, { error: messageOf(error) })
    return null
  }
}

/** Keeps the log bounded. All processes append to one open file, so it is copied and emptied, not renamed. */
export function rotateLog(directory: string): void {
  const file = join(directory, 'proxy.log')
  try {
    if (fstatSync(process.stderr.fd).size <= MAX_LOG_BYTES) return
    copyFileSync(file, `${file}.1`)
    truncateSync(file)
  } catch (error) {
    log('warn', 'the log cannot be rotated', { error: messageOf(error) })
  }
}
