import { setDiskWaits } from '#server/deploys/waiting.ts'
import type { DeployRow } from '#server/deploys/store.ts'
import { fullerOf, isBelowFloor, type FileSystem } from '#server/disk-use/file-systems.ts'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { fileSystems } from '../disk-use/file-systems.ts'
import type { World } from '../world.ts'
import { isFromSource } from './origin.ts'

const log = logger('deploys')

/**
 * Holds back queued deploys that would build while the disk is below its floor (`--disk-floor`): a build that fills the disk
 * takes the database and every container's files with it. Everything else goes on. Returns the deploys that may start, and
 * those that are held with the reason for their logs.
 */
export async function withRoom(
  world: World,
  queued: readonly DeployRow[],
): Promise<{ ready: DeployRow[]; held: DeployRow[]; reason: string }> {
  const building = queued.filter((deploy) => deploy.status === 'queued' && isFromSource(deploy))
  const low = building.length === 0 ? null : await lowFileSystem(world)
  const held = low === null ? [] : building
  const begun = setDiskWaits(held, low ?? { freeBytes: 0, floorBytes: 0 })
  if (low !== null && begun.length > 0)
    log.warn('builds wait for room on the disk', {
      path: low.path,
      free_bytes: low.freeBytes,
      floor_bytes: low.floorBytes,
    })
  return {
    ready: queued.filter((deploy) => !held.includes(deploy)),
    held,
    reason: low === null ? '' : diskReason(low),
  }
}

/** The file system that has too little room for a build; null if there is none, or its use cannot be read. */
export async function lowFileSystem(world: World): Promise<FileSystem | null> {
  try {
    const fuller = fullerOf(await fileSystems(world))
    return isBelowFloor(fuller) ? fuller : null
  } catch (error) {
    log.warn('the free space of the disk cannot be read', { error: messageOf(error) })
    return null
  }
}

const GIBIBYTE = 1024 ** 3

/** What a held deploy logs. It does not change with the free space, so that each deploy logs it once. */
export function diskReason({ path, floorBytes }: FileSystem): string {
  return `waiting for room on the disk: builds start when ${(floorBytes / GIBIBYTE).toFixed(1)} GiB are free at ${path} (--disk-floor)`
}
