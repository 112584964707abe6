import { diskBytesOf } from '#server/datastores/disk-use.ts'
import type { RestoreOrUpgrade } from '#server/datastores/restores-and-upgrades-store.ts'
import { finishRestoreOrUpgrade } from '#server/datastores/restores-and-upgrades.ts'
import { getDatastore, type DatastoreRow } from '#server/datastores/store.ts'
import { loadEnvironment } from '#server/environments/store.ts'
import { logger } from '#server/log.ts'
import { ensureNetworkOn } from '../environments/networks.ts'
import { copyVolume } from '../moves/copy-volume.ts'
import { progressOf } from '../moves/while-moving.ts'
import type { World } from '../world.ts'
import { tryVolume } from './fill.ts'
import { imageOf } from './image.ts'
import { stopDatastore } from './stop.ts'

const log = logger('datastores')

/**
 * Stops a datastore, copies its volume to another node as it is, and makes that its node once the program has answered there.
 * `hold` keeps others from its container. Throws `runtime_error`, or the signal's reason; then the datastore is where it was.
 */
export async function copyToNode(
  world: World,
  row: DatastoreRow,
  filling: RestoreOrUpgrade & { nodeId: string },
  hold: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const { id } = row
  const { nodeId, volume } = filling
  // Find out what is missing there before anything stops.
  await ensureNetworkOn(world, loadEnvironment(row.environment_id), nodeId)
  const imageId = await imageOf(world, { ...row, node_id: nodeId }, signal)
  await hold()
  signal.throwIfAborted()
  await stopDatastore(world, row)
  const engines = [world.engineOf(row.node_id), world.engineOf(nodeId)] as const
  const copy = { source: row.volume, target: volume, labels: { 'deployer.datastore': id } }
  await copyVolume(engines, copy, progressOf(id, 'datastore', diskBytesOf(id)), signal)
  await tryVolume(world, { ...row, node_id: nodeId }, { volume, imageId }, signal)
  signal.throwIfAborted()
  finishRestoreOrUpgrade(getDatastore(id)!, filling, imageId)
  log.info('a datastore was moved to another node; its former volume is kept for a day', {
    datastore: id,
    from: row.node_id,
    to: nodeId,
    kept: row.volume,
  })
}
