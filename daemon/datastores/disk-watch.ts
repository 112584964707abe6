import { announceDatastore } from '#server/changes.ts'
import { diskBytesOf, recordDiskBytes } from '#server/datastores/disk-use.ts'
import { getDatastore } from '#server/datastores/store.ts'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { measureDisk } from './probe.ts'

const log = logger('datastores')

/** Not more often, because a database looks at each of its files for the answer. */
const PERIOD_MS = 60_000
/** The smallest change that is published to open dashboards. */
const PUBLISHED_CHANGE_BYTES = 1024 * 1024

/** Periodically asks each available datastore how much disk space it uses. */
export class DiskWatch {
  readonly #askedAt = new Map<string, number>()

  /** Asks, unless it was asked recently or is not available. Never throws: whether it answers is the health check's task. */
  async look(id: string): Promise<void> {
    const row = getDatastore(id)
    const isDue = performance.now() - (this.#askedAt.get(id) ?? -Infinity) >= PERIOD_MS
    if (row?.status !== 'available' || !isDue) return
    this.#askedAt.set(id, performance.now())
    try {
      const before = diskBytesOf(id)
      const now = await measureDisk(row)
      recordDiskBytes(id, now)
      if (before === null || Math.abs(now - before) >= PUBLISHED_CHANGE_BYTES) announceDatastore(id)
    } catch (error) {
      log.debug('a datastore did not report its disk usage', {
        datastore: id,
        error: messageOf(error),
      })
    }
  }

  /** Forgets when the datastore was last asked, so that `look` asks at once when it is available again. */
  forget(id: string): void {
    this.#askedAt.delete(id)
  }
}
