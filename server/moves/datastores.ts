import { newestBackup } from '../backups/newest.ts'
import { announceDatastore } from '../changes.ts'
import { useDatabase } from '../context.ts'
import { newVolume } from '../datastores/operations.ts'
import {
  deleteRestoreOrUpgrade,
  getRestoreOrUpgrade,
  giveUpVolume,
} from '../datastores/restores-and-upgrades-store.ts'
import { beginReplacing } from '../datastores/restores-and-upgrades.ts'
import { getDatastore, type DatastoreRow } from '../datastores/store.ts'
import { AppError } from '../errors.ts'
import { assertUnfenced } from '../restore/fence.ts'
import { targetOf } from './rules.ts'
import type { MoveInput } from './schema.ts'
import { endMove, insertMove, runningMove } from './store.ts'

/**
 * Records that a datastore goes to another node, which the daemon then does: its volume is copied while its program is stopped
 * or, if its node is lost, filled from its newest backup. Throws `not_found` or `conflict`.
 */
export function moveDatastore(datastore: DatastoreRow, input: MoveInput): DatastoreRow {
  assertUnfenced()
  const { id, name, version } = datastore
  const title = `datastore ${name}`
  useDatabase().transaction(() => {
    const { node_id } = getDatastore(id) ?? datastore
    const target = targetOf({ id, title, nodeId: node_id }, input)
    const backup = input.from_backup ? newestBackup(id) : null
    if (backup === undefined) throw new AppError('conflict', `there is no backup of ${title}`)
    beginReplacing(datastore, 'restoring', {
      datastore_id: id,
      kind: 'restore',
      backup_id: backup?.id ?? null,
      version,
      volume: newVolume(id),
    })
    insertMove({
      resource_id: id,
      from_node_id: node_id,
      to_node_id: target.id,
      from_backup: input.from_backup ? 1 : 0,
    })
  })
  announceDatastore(id)
  return getDatastore(id)!
}

/** Ends the move of a datastore, which stays where it is. Throws `conflict` if there is none. */
export function cancelDatastoreMove({ id, name }: DatastoreRow): DatastoreRow {
  useDatabase().transaction(() => {
    const filling = getRestoreOrUpgrade(id)
    if (!runningMove(id) || !filling) throw new AppError('conflict', `datastore ${name} is not being moved`)
    giveUpVolume(filling.volume, id)
    deleteRestoreOrUpgrade(id)
    endMove(id, 'canceled')
  })
  announceDatastore(id)
  return getDatastore(id)!
}
