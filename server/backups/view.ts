import { timestamp } from '../clock.ts'
import { hasBackupFile } from './files.ts'
import type { Backup } from './schema.ts'
import type { BackupRow } from './store.ts'

/** One backup as the API returns it. */
export function viewBackup(row: BackupRow): Backup {
  const stored: Backup['stored'] = []
  if (row.status !== 'failed' && hasBackupFile(row.id)) stored.push('local')
  if (row.object_url !== null) stored.push('s3')
  const { id, datastore_id, status, trigger, size_bytes, sha256, error } = row
  return {
    id,
    datastore_id,
    status,
    trigger,
    size_bytes,
    sha256,
    error,
    stored,
    created_at: timestamp(row.created_at),
    finished_at: timestamp(row.finished_at),
  }
}
