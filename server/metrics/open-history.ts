import { renameSync, rmSync } from 'node:fs'
import { messageOf } from '../errors.ts'
import { logger } from '../log.ts'
import { History, UnusableHistory } from './history.ts'

const log = logger('metrics')

/**
 * Opens the history in a file. An unusable file is renamed. When no file can be written, the history is kept only in memory,
 * since the server can run without it.
 */
export function openHistory(path: string): History {
  try {
    return openFile(path)
  } catch (error) {
    log.warn(`the metrics history is kept in memory until the server stops: ${path} cannot be used`, {
      error: messageOf(error),
    })
    return new History(':memory:')
  }
}

function openFile(path: string): History {
  try {
    return new History(path)
  } catch (error) {
    if (!(error instanceof UnusableHistory)) throw error
    for (const end of ['-wal', '-shm']) rmSync(path + end, { force: true })
    renameSync(path, `${path}.old`)
    log.warn(`a new metrics history was started; the previous one is ${path}.old`, {
      error: messageOf(error),
    })
    return new History(path)
  }
}
