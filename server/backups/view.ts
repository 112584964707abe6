import { timestamp } from '../clock.ts'
import { hasBackupFile } from './files.ts'
import type { Backup } from './schema.ts'
import type { BackupRow } from './store.ts'

/** One backup of a datastore as the API returns it. */
export function viewBackup(row: BackupRow): Backup {
  const { id, datastore_id, status, trigger } = row
  return { id, datastore_id: datastore_id!, status, trigger, ...viewStored(row) }
}

/** What the API returns of a backup of either kind: its file, where it is, and when it was made. */
export function viewStored(row: BackupRow): Omit<Backup, 'id' | 'datastore_id' | 'status' | 'trigger'> {
  const stored: Backup['stored'] = []
  if (row.status !== 'failed' && hasBackupFile(row.id)) stored.push('local')
  if (row.object_url !== null) stored.push('s3')
  const { size_bytes, sha256, error, encrypted } = row
  return {
    size_bytes,
    sha256,
    error,
    stored,
    encrypted: encrypted === 1,
    created_at: timestamp(row.created_at),
    finished_at: timestamp(row.finished_at),
  }
}
