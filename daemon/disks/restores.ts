import { getBackup } from '#server/backups/store.ts'
import {
  getDiskRestore,
  isDiskRestoring,
  runningDiskRestores,
  takeBackDiskTries,
  type DiskRestoreRow,
} from '#server/disks/restores-store.ts'
import { beginDiskTry, finishDiskRestore, giveUpDiskRestore } from '#server/disks/restores.ts'
import { diskVolume, nodeOfDisks } from '#server/disks/volume.ts'
import { AppError } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { getService } from '#server/services/store.ts'
import { ReplacementWork } from '../replacements/work.ts'
import type { World } from '../world.ts'
import { fillDisk, provideDiskBackup } from './fill.ts'
import { whileStopped } from './hold.ts'

const log = logger('disks')

export type DiskRestores = ReplacementWork<DiskRestoreRow>

/**
 * Restores of disks: fills a new volume while the service runs on its disk, then stops its program and replaces the one by
 * the other.
 */
export function createDiskRestores(world: World): DiskRestores {
  return new ReplacementWork(world, {
    task: 'restores of disks',
    log,
    of: 'service',
    words: ['a disk was', 'restored'],
    mayFollow: ({ kind, id }) => kind === 'all' || (kind === 'service' && isDiskRestoring(id)),
    due: () =>
      runningDiskRestores().flatMap(({ service_id }) => (getService(service_id)?.deleting ? [] : service_id)),
    nodesOf: (id) => [nodeOfDisks(getService(id)!)],
    beginTry: (id) => beginDiskTry(getDiskRestore(id)!),
    takeBackTries: takeBackDiskTries,
    replace: (restore, signal) => replaceDisk(world, restore, signal),
    giveUp: (id, reason) => {
      const restore = getDiskRestore(id)
      if (restore) giveUpDiskRestore(restore, reason)
    },
  })
}

async function replaceDisk(world: World, restore: DiskRestoreRow, signal: AbortSignal): Promise<void> {
  const { service_id: id, disk, volume } = restore
  const engine = world.engineOf(nodeOfDisks(getService(id)!))
  const { volumes } = engine
  const backup = getBackup(restore.backup_id)
  if (!backup) throw new AppError('runtime_error', 'the backup was deleted')
  // A damaged file is found before anything changes.
  await provideDiskBackup(backup, signal)
  await volumes.create(volume, { 'deployer.service': id })
  await fillDisk(engine, restore, backup, signal)
  await whileStopped(id, signal, async () => {
    const former = diskVolume(id, disk)
    const hasFormer = (await volumes.inspect(former)) !== null
    signal.throwIfAborted()
    finishDiskRestore(restore, hasFormer)
    log.info('a disk was restored; its former volume is kept for a day', {
      service: id,
      disk,
      kept: hasFormer ? former : null,
      used: volume,
    })
  })
}
