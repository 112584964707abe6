import { tellDatastore } from '#server/changes.ts'
import { diskBytesOf, recordDiskBytes } from '#server/datastores/disk-use.ts'
import { getDatastore } from '#server/datastores/store.ts'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { measureDisk } from './probe.ts'

const log = logger('datastores')

/** A database looks at each of its files for the answer. */
const PERIOD_MS = 60_000
/** Who looks at it sees a difference of this. */
const TOLD_BYTES = 1024 * 1024

/** Asks datastores that serve how much of the disk they take, each now and then. */
export class DiskWatch {
  readonly #askedAt = new Map<string, number>()

  /** Asks, unless it was asked lately or does not serve. Never throws: whether it answers is found out by others. */
  async look(id: string): Promise<void> {
    const row = getDatastore(id)
    const isDue = performance.now() - (this.#askedAt.get(id) ?? -Infinity) >= PERIOD_MS
    if (row?.status !== 'available' || !isDue) return
    this.#askedAt.set(id, performance.now())
    try {
      const before = diskBytesOf(id)
      const now = await measureDisk(row)
      recordDiskBytes(id, now)
      if (before === null || Math.abs(now - before) >= TOLD_BYTES) tellDatastore(id)
    } catch (error) {
      log.debug('a datastore does not say what it takes of the disk', {
        datastore: id,
        error: messageOf(error),
      })
    }
  }

  /** Asks again at once when it serves next. */
  forget(id: string): void {
    this.#askedAt.delete(id)
  }
}
