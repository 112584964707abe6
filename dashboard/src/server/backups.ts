import type { ServerBackup } from '../api/types.ts'
import type { Tone } from '../ui/StatusBadge.vue'

/** What started a backup of the server. */
export const SERVER_BACKUP_TRIGGER: Record<ServerBackup['trigger'], string> = {
  manual: 'manual',
  schedule: 'scheduled',
  upgrade: 'before an upgrade',
}

/** How a backup reads: one that lacks something, is damaged or has no copy is not a full success. */
export function serverBackupLook(backup: ServerBackup): { label: string; tone: Tone } {
  const { status, sha256, progress_percent, error } = backup
  if (status === 'running' && sha256 !== null) return { label: 'Copying to the bucket', tone: 'progress' }
  if (status === 'running') return { label: `Running, ${progress_percent} %`, tone: 'progress' }
  if (status === 'failed') return { label: 'Failed', tone: 'danger' }
  if (status === 'canceled') return { label: 'Canceled', tone: 'neutral' }
  return error === null
    ? { label: 'Succeeded', tone: 'success' }
    : { label: 'Succeeded with a warning', tone: 'warning' }
}

/** What a backup holds besides the server's own data, for people. */
export function contentsOf({ includes, encrypted }: ServerBackup): string {
  const parts = [
    includes.datastores ? 'datastores' : null,
    includes.disks ? 'disks' : null,
    includes.logs ? 'logs' : null,
  ].filter((part) => part !== null)
  const held = parts.length === 0 ? 'settings alone' : `with ${parts.join(', ')}`
  return encrypted ? `${held}, sealed` : held
}
