import { newestBackup } from '../backups/newest.ts'
import { insertSpareVolume, KEPT_MS } from '../backups/spare-volumes.ts'
import { runningBackupsOf } from '../backups/store.ts'
import { announceService } from '../changes.ts'
import { useDatabase } from '../context.ts'
import { diskTitle, disksOf } from '../disks/list.ts'
import { isDiskRestoring } from '../disks/restores-store.ts'
import {
  diskVolumesByName,
  forgetDiskVolume,
  newDiskVolume,
  nodeOfDisks,
  recordDiskVolume,
} from '../disks/volume.ts'
import { AppError } from '../errors.ts'
import { releaseAddress } from '../instances/addresses.ts'
import { deleteInstance, instancesOf } from '../instances/store.ts'
import { isBound } from '../nodes/carried.ts'
import { nodeName } from '../nodes/store.ts'
import { emitEvent } from '../notifications/events.ts'
import { assertUnfenced } from '../restore/fence.ts'
import { getService, recordService, type ServiceRow } from '../services/store.ts'
import { targetOf } from './rules.ts'
import type { MoveInput } from './schema.ts'
import { countMoveTry, endMove, getMove, insertMove, runningMove, type MoveRow } from './store.ts'

/**
 * Records that a service goes to another node with its disks, which the daemon then does: they are copied while its program is
 * stopped or, if their node is lost, filled from their newest backups. Throws `not_found` or `conflict`.
 */
export function moveService(service: ServiceRow, input: MoveInput): ServiceRow {
  assertUnfenced()
  const { id } = service
  useDatabase().transaction(() => {
    const now = getService(id)
    const fault = obstacleTo(now)
    if (fault !== null) throw new AppError('conflict', fault)
    const from = nodeOfDisks(now!)
    const target = targetOf({ id, title: `service ${now!.name}`, nodeId: from }, input)
    if (input.from_backup) assertBackedUp(now!)
    const from_backup = input.from_backup ? 1 : 0
    insertMove({ resource_id: id, from_node_id: from, to_node_id: target.id, from_backup })
  })
  announceService(id)
  return getService(id)!
}

function obstacleTo(service: ServiceRow | undefined): string | null {
  if (!service || service.deleting) return 'the service is being deleted'
  const { id, name } = service
  if (!isBound(id)) return `service ${name} has no disk, so it runs where its placement allows: change that`
  if (isDiskRestoring(id)) return `a disk of service ${name} is being restored: wait until that has finished`
  const [backup] = runningBackupsOf(id)
  return backup ? `the backup ${backup.id} of ${diskTitle(service, backup.disk!)} is running` : null
}

/** Throws `conflict` if a disk with data has no backup. */
function assertBackedUp(service: ServiceRow): void {
  const missing = disksOf(service).find(
    ({ name }) => service.live_deploy_id !== null && !newestBackup(service.id, name),
  )
  if (missing) throw new AppError('conflict', `there is no backup of ${diskTitle(service, missing.name)}`)
}

/** Ends the move of a service, which stays where it is. Throws `conflict` if there is none. */
export function cancelServiceMove({ id, name }: ServiceRow): ServiceRow {
  const move = runningMove(id)
  if (!move) throw new AppError('conflict', `service ${name} is not being moved`)
  endServiceMove(move, 'canceled')
  return getService(id)!
}

/** Begins a move again, with new empty volumes by disk. Those of the earlier try are given up. */
export function beginMoveTry(move: MoveRow, disks: Iterable<string>): MoveRow {
  const { resource_id: id } = move
  useDatabase().transaction(() => {
    giveUpVolumes(move)
    countMoveTry(id, new Map([...disks].map((disk) => [disk, newDiskVolume(id)])))
  })
  return getMove(id)!
}

/** The volumes that a move fills, by disk. */
export function volumesOf({ volumes }: MoveRow): Map<string, string> {
  return new Map(Object.entries(JSON.parse(volumes) as Record<string, string>))
}

/**
 * Makes the other node that of a service, and these of the volumes there its disks. The former ones are kept for a day. What
 * still counts as running on a node that is lost is given up.
 */
export function finishServiceMove(move: MoveRow, filled: ReadonlyMap<string, string>): void {
  const { resource_id: id, from_node_id: from, to_node_id: to } = move
  // Without a backup, one that is not filled did not exist yet.
  recordMove(id, { from, to }, filled, move.from_backup === 1)
  emitEvent('service.moved', id, nodeName(to))
  announceService(id)
}

/**
 * Records that the disks of a service are these volumes on another node, and that nothing of it runs. The former ones are kept for
 * a day; `all` says whether also of disks that have no other volume.
 */
export function recordMove(
  serviceId: string,
  { from, to }: { from: string; to: string },
  filled: ReadonlyMap<string, string>,
  all: boolean,
): void {
  useDatabase().transaction(() => {
    for (const [disk, former] of diskVolumesByName(serviceId)) {
      const volume = filled.get(disk)
      if (volume === former || (volume === undefined && !all)) continue
      const remove_at = Date.now() + KEPT_MS
      insertSpareVolume({ volume: former, node_id: from, service_id: serviceId, disk, remove_at })
      if (volume === undefined) forgetDiskVolume(serviceId, disk)
    }
    for (const [disk, volume] of filled) recordDiskVolume(serviceId, disk, volume)
    for (const instance of instancesOf(serviceId)) {
      releaseAddress(instance.id)
      deleteInstance(instance.id)
    }
    recordService(serviceId, { node_id: to })
    endMove(serviceId, 'succeeded')
  })
}

/** Records that a move failed, with the reason, or was canceled. The service stays on its node. */
export function endServiceMove(move: MoveRow, status: 'failed' | 'canceled', error?: string): void {
  useDatabase().transaction(() => {
    const now = runningMove(move.resource_id)
    if (!now) return
    giveUpVolumes(now)
    endMove(move.resource_id, status, error)
  })
  announceService(move.resource_id)
}

function giveUpVolumes(move: MoveRow): void {
  for (const [disk, volume] of volumesOf(move))
    insertSpareVolume({
      volume,
      node_id: move.to_node_id,
      service_id: move.resource_id,
      disk,
      remove_at: 0,
    })
}
