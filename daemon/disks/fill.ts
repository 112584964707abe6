import { createReadStream } from 'node:fs'
import { backupPath } from '#server/backups/files.ts'
import type { BackupRow } from '#server/backups/store.ts'
import { provideFile } from '../backups/provide.ts'
import type { Engine } from '../engine/index.ts'
import { DISKS_FOLDER, withHelper } from './helper.ts'

/** What gzip writes first (RFC 1952 section 2.3.1), in latin1. */
const FORM = { magic: /^\x1f\x8b\x08/, label: 'an archive of a disk' }

/** Makes sure that the file of a disk's backup is here and intact, as `provideFile` does. */
export function provideDiskBackup(backup: BackupRow, signal: AbortSignal): Promise<void> {
  return provideFile(FORM, backup, signal)
}

/** Unpacks the backup of a disk into a volume, which exists and is empty. Throws `runtime_error`, or the signal's reason. */
export async function fillDisk(
  engine: Engine,
  { service_id, volume }: { service_id: string; volume: string },
  backup: BackupRow,
  signal: AbortSignal,
): Promise<void> {
  const labels = { 'deployer.service': service_id }
  await withHelper(engine, { name: volume, labels, volume, folder: backup.disk! }, async () => {
    const file = createReadStream(backupPath(backup.id))
    try {
      // The engine unpacks gzip itself.
      await engine.containers.putArchive(volume, DISKS_FOLDER, file, { signal })
    } finally {
      file.destroy()
    }
  })
}
