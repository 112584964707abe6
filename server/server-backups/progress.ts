import type { ServerBackupRow } from './store.ts'

/**
 * How far the backup is whose file is being made; there is one at a time. Only in memory: a commit would wait for the disk,
 * which the backup keeps busy, and every answer that is kept until the next commit would be made again.
 */
let latest = { id: '', percent: 0 }

/** Notes how much of a backup's file is written; false when that is no news. */
export function noteServerBackupProgress(id: string, percent: number): boolean {
  if (id === latest.id && percent === latest.percent) return false
  latest = { id, percent }
  return true
}

/** How much of a backup's file is written, in percent. */
export function progressOfServerBackup({ id, status, sha256, progress_percent }: ServerBackupRow): number {
  const isBeingMade = status === 'running' && sha256 === null
  return isBeingMade && id === latest.id ? latest.percent : progress_percent
}
