import { useBucket, type Bucket } from '#server/backups/bucket.ts'
import { useContext } from '#server/context.ts'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { serverBackupName } from '#server/server-backups/download.ts'
import { hasServerBackupFile, serverBackupPath } from '#server/server-backups/files.ts'
import {
  isCopied,
  recordServerBackupCopy,
  recordServerBackupCopyFault,
  settleServerBackup,
} from '#server/server-backups/operations.ts'
import { uncopiedServerBackups, type ServerBackupRow } from '#server/server-backups/store.ts'
import { Copying, TRIED_AGAIN } from '../backups/copying.ts'

const log = logger('server backups')

/** Copies sealed server backups to the bucket, below `server/`, one after another. */
export class ServerBackupCopies {
  readonly #copying: Copying

  constructor(wake: () => void) {
    this.#copying = new Copying(1, wake)
  }

  /** Begins what there is to copy. */
  look(): void {
    const bucket = useBucket()
    for (const row of uncopiedServerBackups()) {
      if (bucket === null || !isCopied(row.encrypted === 1)) {
        if (row.status === 'running') settleServerBackup(row.id)
      } else if (this.#copying.isFree(row.id)) this.#begin(bucket, row)
    }
  }

  stop(): void {
    this.#copying.stop()
  }

  #begin(bucket: Bucket, row: ServerBackupRow): void {
    const { id } = row
    if (!hasServerBackupFile(id)) return void (row.status === 'running' && settleServerBackup(id))
    this.#copying.begin({
      key: id,
      run: (signal) => copy(bucket, row, signal),
      onFailure: (error) => {
        const reason = messageOf(error)
        recordServerBackupCopyFault(id, `it was not copied, ${TRIED_AGAIN}: ${reason}`)
        log.warn('a server backup was not copied', { backup: id, error: reason })
      },
    })
  }
}

async function copy(bucket: Bucket, row: ServerBackupRow, stop: AbortSignal): Promise<void> {
  const signal = AbortSignal.any([stop, useContext().stopping])
  const url = bucket.urlOf(`server/${serverBackupName(row)}`)
  // What an earlier try left would stay forever.
  await bucket.remove(url, signal)
  await bucket.put(
    url,
    { path: serverBackupPath(row.id), size: row.size_bytes!, sha256: row.sha256! },
    signal,
  )
  recordServerBackupCopy(row.id, url)
  log.info('a server backup was copied to the bucket', { backup: row.id, url })
}
