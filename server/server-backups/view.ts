import { timestamp } from '../clock.ts'
import { hasServerBackupFile } from './files.ts'
import { progressOfServerBackup } from './progress.ts'
import type { ServerBackup } from './schema.ts'
import type { ServerBackupRow } from './store.ts'

/** One server backup as the API returns it. */
export function viewServerBackup(row: ServerBackupRow): ServerBackup {
  const stored: ServerBackup['stored'] = []
  if (row.sha256 !== null && hasServerBackupFile(row.id)) stored.push('local')
  if (row.object_url !== null) stored.push('s3')
  const { id, status, trigger, size_bytes, sha256, error } = row
  return {
    id,
    status,
    trigger,
    progress_percent: progressOfServerBackup(row),
    size_bytes,
    sha256,
    encrypted: row.encrypted === 1,
    includes: { datastores: row.datastores === 1, disks: row.disks === 1, logs: row.logs === 1 },
    stored,
    verified_at: timestamp(row.verified_at),
    error,
    created_at: timestamp(row.created_at),
    finished_at: timestamp(row.finished_at),
  }
}
