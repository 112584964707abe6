import { newestBackup } from '#server/backups/newest.ts'
import { getDeploy, openSnapshot } from '#server/deploys/store.ts'
import { disksOf } from '#server/disks/list.ts'
import { diskVolumesByName } from '#server/disks/volume.ts'
import { AppError } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { beginMoveTry, endServiceMove, finishServiceMove, volumesOf } from '#server/moves/services.ts'
import {
  getMove,
  runningMove,
  runningServiceMoves,
  takeBackMoveTries,
  type MoveRow,
} from '#server/moves/store.ts'
import { getService } from '#server/services/store.ts'
import { fillDisk, provideDiskBackup } from '../disks/fill.ts'
import { whileStopped } from '../disks/hold.ts'
import { assertDiskUnused } from '../instances/containers.ts'
import { ReplacementWork } from '../replacements/work.ts'
import type { World } from '../world.ts'
import { copyVolume } from './copy-volume.ts'
import { progressOf, whileMoving } from './while-moving.ts'

const log = logger('moves')

export type ServiceMoves = ReplacementWork<MoveRow>

/**
 * Moves of services with disks: copies the disks to new volumes on the other node while the program is stopped, which then
 * starts there.
 */
export function createServiceMoves(world: World): ServiceMoves {
  return new ReplacementWork(world, {
    task: 'moves of services',
    log,
    of: 'service',
    words: ['a service was', 'moved'],
    mayFollow: ({ kind, id }) => kind === 'all' || (kind === 'service' && runningMove(id) !== undefined),
    due: () =>
      runningServiceMoves().flatMap(({ resource_id }) =>
        getService(resource_id)?.deleting ? [] : resource_id,
      ),
    nodesOf: (id) => {
      const { from_backup, from_node_id, to_node_id } = getMove(id)!
      return from_backup ? [to_node_id] : [from_node_id, to_node_id]
    },
    beginTry: (id) => beginMoveTry(getMove(id)!, diskVolumesByName(id).keys()),
    takeBackTries: takeBackMoveTries,
    surround: whileMoving,
    replace: async (move, signal) => {
      await moveDisks(world, move, signal)
      await world.dataPlane.sync()
    },
    giveUp: (id, reason) => {
      const move = runningMove(id)
      if (move) endServiceMove(move, 'failed', reason)
    },
  })
}

async function moveDisks(world: World, move: MoveRow, signal: AbortSignal): Promise<void> {
  const { resource_id: id, from_node_id: from, to_node_id: to } = move
  // Find out what is missing there before anything stops.
  await provideImage(world, move, signal)
  const restored = move.from_backup ? await restoreDisks(world, move, signal) : null
  const finish = async (): Promise<void> => {
    const filled = restored ?? (await copyDisks(world, move, signal))
    signal.throwIfAborted()
    finishServiceMove(move, filled)
    const fields = { service: id, from, to }
    log.info('a service was moved to another node; its former volumes are kept for a day', fields)
  }
  await whileStopped(id, signal, finish, restored ? from : undefined)
}

async function provideImage(
  world: World,
  { resource_id: id, to_node_id: to }: MoveRow,
  signal: AbortSignal,
): Promise<void> {
  const live = getDeploy(getService(id)!.live_deploy_id ?? '')
  const snapshot = live && openSnapshot(live)
  if (snapshot) await world.machines.provideImage(to, snapshot.image_id, id, signal)
}

/** Copies the disks that exist. Returns the new volumes by disk. */
async function copyDisks(world: World, move: MoveRow, signal: AbortSignal): Promise<Map<string, string>> {
  const { resource_id: id, from_node_id, to_node_id } = move
  const engines = [world.engineOf(from_node_id), world.engineOf(to_node_id)] as const
  const targets = volumesOf(move)
  const filled = new Map<string, string>()
  const onBytes = progressOf(id, 'service', null)
  let done = 0
  for (const [disk, source] of diskVolumesByName(id)) {
    const target = targets.get(disk)
    // A container that mounts it would create it.
    if ((await engines[0].volumes.inspect(source)) === null) continue
    await assertDiskUnused(engines[0], getService(id)!, disk)
    if (target === undefined)
      throw new AppError('runtime_error', `the service got a disk ${disk} meanwhile: move it again`)
    let bytes = 0
    const copy = { source, target, labels: { 'deployer.service': id } }
    await copyVolume(engines, copy, (now) => onBytes(done + (bytes = now)), signal)
    done += bytes
    filled.set(disk, target)
  }
  return filled
}

/** Fills new volumes from the newest backups of the disks. Returns them by disk. */
async function restoreDisks(world: World, move: MoveRow, signal: AbortSignal): Promise<Map<string, string>> {
  const { resource_id: service_id, to_node_id } = move
  const engine = world.engineOf(to_node_id)
  const filled = new Map<string, string>()
  for (const [disk, volume] of volumesOf(move)) {
    const backup = newestBackup(service_id, disk)
    if (!backup) {
      if (!disksOf(getService(service_id)!).some(({ name }) => name === disk)) continue
      throw new AppError('runtime_error', `there is no backup of the disk ${disk}`)
    }
    await provideDiskBackup(backup, signal)
    await engine.volumes.create(volume, { 'deployer.service': service_id })
    await fillDisk(engine, { service_id, volume }, backup, signal)
    filled.set(disk, volume)
  }
  return filled
}
