import { beginBackup, withdrawBackup } from '#server/backups/operations.ts'
import type { BackupRow } from '#server/backups/store.ts'
import { updateRestoreOrUpgrade } from '#server/datastores/restores-and-upgrades-store.ts'
import type { DatastoreRow } from '#server/datastores/store.ts'
import { AppError } from '#server/errors.ts'
import { backupFileDone } from '../backups/end.ts'

/**
 * Makes a backup for a datastore's upgrade, while it takes no writes, which replaces that of an earlier try. Throws
 * `runtime_error` if it fails; then an earlier backup that has a file stays.
 */
export async function backUpForUpgrade(
  row: DatastoreRow,
  former: BackupRow | undefined,
  signal: AbortSignal,
): Promise<BackupRow> {
  if (former?.sha256 === null) await withdrawBackup(former)
  const { id } = beginBackup(row, 'upgrade', (made) => updateRestoreOrUpgrade(row.id, { backup_id: made }))
  const backup = await backupFileDone(id, signal)
  if (backup.status === 'failed') throw new AppError('runtime_error', `its backup failed: ${backup.error}`)
  if (former && former.sha256 !== null) await withdrawBackup(former)
  return backup
}
