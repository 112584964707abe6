import { beginBackup } from '#server/backups/operations.ts'
import { allOwners, findOwner, type BackupOwner, type OwnerKind } from '#server/backups/owners.ts'
import { listBackups, runningBackup } from '#server/backups/store.ts'
import { hasBackupFile } from '#server/backups/files.ts'
import { timestamp } from '#server/clock.ts'
import { messageOf } from '#server/errors.ts'
import type { World } from '../world.ts'
import { backupFileDone } from '../backups/end.ts'

/**
 * Makes a backup of each datastore and of each disk, as far as `wanted`, for a server backup. Returns what went wrong, one
 * sentence for each.
 */
export async function backUpData(
  world: World,
  wanted: Record<OwnerKind, boolean>,
  signal: AbortSignal,
): Promise<string[]> {
  const owners = allOwners().filter(({ kind }) => wanted[kind])
  const faults = await Promise.all(owners.map((owner) => faultOf(world, owner, signal)))
  return faults.filter((fault) => fault !== null)
}

async function faultOf(world: World, owner: BackupOwner, signal: AbortSignal): Promise<string | null> {
  const reason = await backUp(world, owner, signal)
  if (reason === null || !findOwner(owner.id, owner.disk)) return null
  const earlier = listBackups(owner.id).find(
    ({ id, disk, sha256 }) => disk === owner.disk && sha256 !== null && hasBackupFile(id),
  )
  const instead = earlier
    ? `its backup of ${timestamp(earlier.created_at)} was taken`
    : 'it has no earlier backup'
  return `${owner.title} was not backed up (${reason}): ${instead}`
}

/** Returns why something was not backed up, or null. */
async function backUp(world: World, owner: BackupOwner, signal: AbortSignal): Promise<string | null> {
  try {
    // A backup would wait for it, and the server's with it.
    if (world.reachByAddress === null || world.engineFault !== null)
      return 'the container engine does not answer'
    if (owner.obstacle) return owner.obstacle.state
    // One that began earlier may have been made before the last change.
    const running = runningBackup(owner.id, owner.disk)
    if (running) await backupFileDone(running.id, signal)
    const done = await backupFileDone(beginBackup(owner, 'server').id, signal)
    return done.status === 'failed' ? (done.error ?? 'its backup failed') : null
  } catch (error) {
    signal.throwIfAborted()
    return messageOf(error)
  }
}
