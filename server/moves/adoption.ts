import { insertSpareVolume, KEPT_MS } from '../backups/spare-volumes.ts'
import { useDatabase } from '../context.ts'
import { deleteRestoreOrUpgrade } from '../datastores/restores-and-upgrades-store.ts'
import { refoundDatastore, type DatastoreRow } from '../datastores/store.ts'
import { getDeploy, openSnapshot } from '../deploys/store.ts'
import { nodeOfDisks } from '../disks/volume.ts'
import { addressBehind, hostOn } from '../environments/overlay.ts'
import { loadEnvironment } from '../environments/store.ts'
import { allotAddress, holdAddress } from '../instances/addresses.ts'
import { instanceMachine } from '../instances/states.ts'
import { insertInstance, updateInstance } from '../instances/store.ts'
import { ledgerOn } from '../ledger.ts'
import type { ServiceRow } from '../services/store.ts'
import { tryMove } from '../state-machine.ts'
import { recordMove } from './services.ts'
import { endMove } from './store.ts'

/** Records that a datastore was moved, as its container on another node shows. Its former volume is kept for a day. */
export function adoptMovedDatastore(
  { id, node_id, volume: former, version }: DatastoreRow,
  { nodeId, volume, imageId }: { nodeId: string; volume: string; imageId: string },
): void {
  useDatabase().transaction(() => {
    ledgerOn(nodeId).record('container', id)
    ledgerOn(nodeId).record('volume', volume)
    const remove_at = Date.now() + KEPT_MS
    if (former !== volume)
      insertSpareVolume({ volume: former, node_id, datastore_id: id, remove_at, version })
    refoundDatastore(id, { volume, version, image_id: imageId, node_id: nodeId })
    // The records may be of the time of the move.
    deleteRestoreOrUpgrade(id)
    endMove(id, 'succeeded')
  })
}

/** A container of a service's instance that runs on a node, and is not recorded. */
interface MovedInstance {
  id: string
  nodeId: string
  /** Of which deploy, as its label says. */
  deployId: string | undefined
  addresses: string[]
}

/** Records that a service was moved with its disks, as its instance on another node shows, and that this runs. */
export function adoptMovedService(
  service: ServiceRow,
  instance: MovedInstance,
  volumes: ReadonlyMap<string, string>,
): void {
  const { nodeId: to } = instance
  useDatabase().transaction(() => {
    for (const volume of volumes.values()) ledgerOn(to).record('volume', volume)
    recordMove(service.id, { from: nodeOfDisks(service), to }, volumes, true)
    adoptInstance(service, instance)
  })
}

/**
 * Records an instance that runs already: as one of the live deploy if it is of that, otherwise as one that leaves, after which one of
 * the live deploy starts. Without a live deploy it stays unknown, and the disk is its own until somebody ends it.
 */
function adoptInstance(service: ServiceRow, { id, nodeId, deployId, addresses }: MovedInstance): void {
  const live = getDeploy(service.live_deploy_id ?? '')
  const snapshot = live && openSnapshot(live)
  const environment = loadEnvironment(service.environment_id)
  const { subnet } = environment
  if (!live || !snapshot || subnet === null) return
  ledgerOn(nodeId).record('container', id)
  const held = addresses
    .map((address) => addressBehind(environment, address))
    .find((address) => address !== null && holdAddress(environment.id, subnet, address, id))
  const address = held ?? allotAddress(environment.id, subnet, id)
  insertInstance({ id, service_id: service.id, deploy_id: live.id, node_id: nodeId, address })
  if (held === undefined || deployId !== live.id) {
    tryMove(instanceMachine, id, 'draining', { left_rotation_at: Date.now() })
    return
  }
  const { port } = snapshot
  updateInstance(id, {
    started_at: Date.now(),
    ...(port !== null && {
      upstream_host: hostOn(nodeId, environment.id, address),
      upstream_port: port,
    }),
  })
  tryMove(instanceMachine, id, 'ready')
}
