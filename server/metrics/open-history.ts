import { renameSync, rmSync } from 'node:fs'
import { messageOf } from '../errors.ts'
import { logger } from '../log.ts'
import { History, SpoiltHistory } from './history.ts'

const log = logger('metrics')

/**
 * The history in a file. One that is of no use is set aside, and where none can be written the history is kept in memory
 * alone: a server runs without it.
 */
export function openHistory(path: string): History {
  try {
    return openFile(path)
  } catch (error) {
    log.warn(`the metrics history is kept in memory until the server ends: ${path} cannot be used`, {
      error: messageOf(error),
    })
    return new History(':memory:')
  }
}

function openFile(path: string): History {
  try {
    return new History(path)
  } catch (error) {
    if (!(error instanceof SpoiltHistory)) throw error
    for (const end of ['-wal', '-shm']) rmSync(path + end, { force: true })
    renameSync(path, `${path}.old`)
    log.warn(`the metrics history begins anew; what it was is ${path}.old`, { error: messageOf(error) })
    return new History(path)
  }
}
