import { once } from 'node:events'
import { onBackupChange } from '#server/backups/owners.ts'
import { getBackup, type BackupRow } from '#server/backups/store.ts'
import { AppError } from '#server/errors.ts'

/**
 * Waits until a backup has a file or has failed, but not for its copy. Throws `runtime_error` when it is deleted, or the
 * signal's reason.
 */
export async function backupFileDone(id: string, signal: AbortSignal): Promise<BackupRow> {
  const changed = new EventTarget()
  const stopListening = onBackupChange(() => changed.dispatchEvent(new Event('change')))
  try {
    for (;;) {
      const backup = getBackup(id)
      if (!backup) throw new AppError('runtime_error', 'its backup was deleted')
      if (backup.status !== 'running' || backup.sha256 !== null) return backup
      await once(changed, 'change', { signal })
    }
  } finally {
    stopListening()
  }
}
