import { hasBackupFile } from './files.ts'
import { listBackups, type BackupRow } from './store.ts'

/** The newest backup of a datastore, or of one of a service's disks, that has a file or a copy. */
export function newestBackup(ownerId: string, disk: string | null = null): BackupRow | undefined {
  return listBackups(ownerId).find(
    (backup) =>
      backup.disk === disk &&
      backup.sha256 !== null &&
      (backup.object_url !== null || hasBackupFile(backup.id)),
  )
}
