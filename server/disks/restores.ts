import { insertSpareVolume, KEPT_MS } from '../backups/spare-volumes.ts'
import { runningBackup, type BackupRow } from '../backups/store.ts'
import { announceService } from '../changes.ts'
import { useDatabase } from '../context.ts'
import { AppError } from '../errors.ts'
import { ID_PATTERN } from '../ids.ts'
import { runningMove } from '../moves/store.ts'
import { assertUnfenced } from '../restore/fence.ts'
import { findService } from '../services/operations.ts'
import { getService, type ServiceRow } from '../services/store.ts'
import {
  countDiskTry,
  endDiskRestore,
  getDiskRestore,
  insertDiskRestore,
  type DiskRestoreRow,
} from './restores-store.ts'
import { disksOf, diskTitle } from './list.ts'
import { diskVolume, newDiskVolume, nodeOfDisks, recordDiskVolume } from './volume.ts'

/**
 * Records that a service's disk is to be replaced by a backup, which the daemon then does: the disk of this name, or of the
 * backup's. Throws `conflict`.
 */
export function restoreDisk(service: ServiceRow, backup: BackupRow, disk = backup.disk!): ServiceRow {
  assertUnfenced()
  if (backup.sha256 === null)
    throw new AppError('conflict', `the backup ${backup.id} is ${backup.status}: there is nothing to restore`)
  const { id } = service
  useDatabase().transaction(() => {
    const fault = obstacleTo(getService(id), disk)
    if (fault !== null) throw new AppError('conflict', fault)
    insertDiskRestore({ service_id: id, backup_id: backup.id, disk, volume: newDiskVolume(id) })
  })
  announceService(id)
  return getService(id)!
}

/** The service that a backup of `service` is restored into: another one by its id, or by its name in the same environment. */
export function restoreTarget(service: ServiceRow, into: string | undefined): ServiceRow {
  if (into === undefined) return service
  return ID_PATTERN.test(into) ? findService(into) : findService(into, service.environment_id)
}

function obstacleTo(service: ServiceRow | undefined, disk: string): string | null {
  if (!service || service.deleting) return 'the service is being deleted'
  const { id, name } = service
  const names = disksOf(service).map((each) => each.name)
  if (names.length === 0) return `service ${name} has no disk: set disk_mount_path first`
  if (!names.includes(disk))
    return `service ${name} has no disk ${disk}: name one of ${names.join(', ')} in the field disk`
  const restore = getDiskRestore(id)
  if (restore?.status === 'running')
    return `${diskTitle(service, restore.disk)} is being restored: wait until that has finished`
  if (runningMove(id)) return `service ${name} is being moved: wait until that has finished`
  const running = runningBackup(id, disk)
  return running ? `the backup ${running.id} of ${diskTitle(service, disk)} is running` : null
}

/** Begins a restore again, on a new empty volume. The volume of the earlier try is given up. */
export function beginDiskTry(restore: DiskRestoreRow): DiskRestoreRow {
  const { service_id: id } = restore
  useDatabase().transaction(() => {
    giveUpDiskVolume(restore)
    countDiskTry(id, newDiskVolume(id))
  })
  return getDiskRestore(id)!
}

/** Makes the filled volume the disk of its service. The former one, if there is one, is kept for a day. */
export function finishDiskRestore(
  { service_id: id, disk, volume }: DiskRestoreRow,
  hasFormer: boolean,
): void {
  useDatabase().transaction(() => {
    const former = diskVolume(id, disk)
    if (hasFormer)
      insertSpareVolume({
        volume: former,
        node_id: nodeOfDisks(getService(id)!),
        service_id: id,
        disk,
        remove_at: Date.now() + KEPT_MS,
      })
    recordDiskVolume(id, disk, volume)
    endDiskRestore(id, null)
  })
  announceService(id)
}

/** Gives up a restore, with the reason. The service keeps its disk. */
export function giveUpDiskRestore(restore: DiskRestoreRow, reason: string): void {
  const { service_id: id } = restore
  useDatabase().transaction(() => {
    if (endDiskRestore(id, reason)) giveUpDiskVolume(restore)
  })
  announceService(id)
}

/** Gives up a volume that holds nothing worth keeping. */
function giveUpDiskVolume({ service_id, disk, volume }: DiskRestoreRow): void {
  const node_id = nodeOfDisks(getService(service_id)!)
  insertSpareVolume({ volume, node_id, service_id, disk, remove_at: 0 })
}
