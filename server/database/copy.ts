import { chmodSync } from 'node:fs'
import { backup, DatabaseSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import { messageOf } from '../errors.ts'
import { PRIVATE_FILE_MODE } from '../files.ts'
import { migrations } from './migrations/index.ts'
import { readOnlyUrl } from './read-only.ts'

/** All pages in one step, so that they are of one moment; a copy in steps starts over whenever something is written. */
const ALL_PAGES = 2 ** 31 - 1
/** A check that takes longer is assumed to hang. */
const CHECK_WITHIN_MS = 10 * 60_000

/** The version of the database that this server writes. */
export const SCHEMA_VERSION = migrations.length

/**
 * Writes a copy of a database file, as it is at one moment. Others go on reading and writing it. The copy needs no other
 * file beside it.
 */
export async function copyDatabase(from: string, to: string): Promise<void> {
  // A connection of its own: the copy is made in another thread, and the server's would wait for it.
  const source = new DatabaseSync(from, { timeout: 5_000 })
  try {
    await backup(source, to, { rate: ALL_PAGES })
    chmodSync(to, PRIVATE_FILE_MODE)
  } finally {
    source.close()
  }
  const copy = new DatabaseSync(to)
  try {
    copy.exec('PRAGMA journal_mode = DELETE')
  } finally {
    copy.close()
  }
}

/** The program of the thread, which reads every page: that would hold up the server for a second in each 300 MB. */
const CHECK = `
const { DatabaseSync } = require('node:sqlite')
const { parentPort, workerData } = require('node:worker_threads')
const database = new DatabaseSync(new URL(workerData), { readOnly: true, timeout: 5000 })
const [first] = database.prepare('PRAGMA quick_check(1)').all()
const { user_version } = database.prepare('PRAGMA user_version').get()
database.close()
parentPort.postMessage({ fault: first.quick_check === 'ok' ? null : first.quick_check, version: user_version })
`

/** The version of a database file, and what is wrong with its pages; null when they are sound. */
export interface Checked {
  version: number | null
  fault: string | null
}

/**
 * Reads every page of a database file (sqlite.org/pragma.html#pragma_quick_check), in a thread of its own. Leaves no other file,
 * and the file may be in use.
 */
export async function checkDatabase(path: string): Promise<Checked> {
  const { promise, resolve } = Promise.withResolvers<Checked>()
  const worker = new Worker(CHECK, { eval: true, workerData: readOnlyUrl(path).href, env: {} })
  const late = setTimeout(
    () => resolve({ version: null, fault: 'it could not be read to its end in time' }),
    CHECK_WITHIN_MS,
  )
  worker.once('message', resolve)
  worker.once('error', (error) => resolve({ version: null, fault: messageOf(error) }))
  worker.once('exit', () => resolve({ version: null, fault: 'the check ended early' }))
  try {
    return await promise
  } finally {
    clearTimeout(late)
    await worker.terminate()
  }
}
