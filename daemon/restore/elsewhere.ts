import { messageOf } from '#server/errors.ts'
import { allDatastores, getDatastore } from '#server/datastores/store.ts'
import { disksOf } from '#server/disks/list.ts'
import { diskVolume, nodeOfDisks } from '#server/disks/volume.ts'
import { ledgerOn } from '#server/ledger.ts'
import { logger } from '#server/log.ts'
import { adoptMovedDatastore, adoptMovedService } from '#server/moves/adoption.ts'
import { listNodes, nodeName, ownNodeId } from '#server/nodes/store.ts'
import { allServices, getService, type ServiceRow } from '#server/services/store.ts'
import { wantedInstances } from '#server/services/types.ts'
import type { RunningContainer } from '../engine/container-state.ts'
import type { NodeEngine } from '../nodes/engines.ts'
import { answerOf, nameOfNode } from '../nodes/presence.ts'

const log = logger('restore')

/** What runs, by the id of the node; a node that does not answer is left out. */
export type Running = ReadonlyMap<string, readonly RunningContainer[]>

/** Lists what runs on the nodes. Throws `runtime_error` if the own engine does not answer. */
export async function runningOn(engines: readonly NodeEngine[]): Promise<Running> {
  const listed = await Promise.all(
    engines.map(async ({ nodeId, engine }) => {
      const running = answerOf(nodeId, engine.containers.running())
      return [nodeId, nodeId === ownNodeId() ? await running : await orNull(nodeId, running)] as const
    }),
  )
  return new Map(listed.flatMap(([nodeId, running]) => (running === null ? [] : [[nodeId, running]])))
}

async function orNull<T>(nodeId: string, answer: Promise<T>): Promise<T | null> {
  return answer.catch((error: unknown) => {
    log.warn('what runs on a node is unknown', { node: nameOfNode(nodeId), error: messageOf(error) })
    return null
  })
}

/**
 * Takes over datastores and services with disks that run on another node than the restored records say, since they were moved
 * after the backup: their newest data is there, and beside it no second copy may start.
 */
export function adoptMoved(running: Running): void {
  const found = [...running].flatMap(([nodeId, list]) => list.map((container) => ({ nodeId, container })))
  // If there are two nevertheless, the newer one has the data.
  found.sort((one, other) => one.container.createdAt - other.container.createdAt)
  for (const { nodeId, container } of found) {
    if (container.isRecorded) continue
    const kind = container.state.labels['deployer.kind']
    if (kind === 'datastore') adoptDatastore(nodeId, container)
    if (kind === 'instance') adoptService(nodeId, container)
  }
}

function adoptDatastore(
  nodeId: string,
  { state: { name: id, image: imageId }, volumes }: RunningContainer,
): void {
  const row = getDatastore(id)
  if (!row || (nodeId === ownNodeId() && row.node_id === nodeId)) return
  const volume = volumes.find(({ name }) => ledgerOn(nodeId).find('volume', name) === undefined)
  if (volume === undefined) return
  adoptMovedDatastore(row, { nodeId, volume: volume.name, imageId })
  log.info('a datastore was moved after the backup', { datastore: id, node: nodeName(nodeId) })
}

function adoptService(nodeId: string, { state, volumes }: RunningContainer): void {
  const service = getService(state.labels['deployer.service'] ?? '')
  if (!service || service.deleting || !isNameOf(state.name, service.id)) return
  const from = nodeOfDisks(service)
  if (nodeId === ownNodeId() && from === nodeId) return
  const filled = volumesByDisk(service, volumes)
  const isMoved = [...filled].some(
    ([disk, volume]) => nodeId !== from || volume !== diskVolume(service.id, disk),
  )
  if (!isMoved) return
  const addresses = state.networks.flatMap(({ address }) => address ?? [])
  const deployId = state.labels['deployer.deploy']
  adoptMovedService(service, { id: state.name, nodeId, deployId, addresses }, filled)
  log.info('a service was moved after the backup', { service: service.id, node: nodeName(nodeId) })
}

function isNameOf(container: string, serviceId: string): boolean {
  return container.startsWith(`${serviceId}-`) && /^-[0-9a-f]+$/.test(container.slice(serviceId.length))
}

/** Which volumes of a service's container are which of its disks: by their paths, which may have changed of the last one. */
function volumesByDisk(service: ServiceRow, mounted: RunningContainer['volumes']): Map<string, string> {
  const left = mounted.filter(({ name }) => name.startsWith(`deployer-${service.id}`))
  const found = new Map<string, string>()
  for (const { name, mount_path } of disksOf(service)) {
    const index = left.findIndex(({ path }) => path === mount_path)
    if (index !== -1) found.set(name, left.splice(index, 1)[0]!.name)
  }
  const without = disksOf(service).filter(({ name }) => !found.has(name))
  if (without.length === 1 && left.length === 1) found.set(without[0]!.name, left[0]!.name)
  return found
}

/**
 * Why it cannot be known whether something was moved after the backup: it runs nowhere, and there is a node that does not answer,
 * on which it may run. Null if that is known. What is on a node that is down counts as lost, as always.
 */
export function doubtAbout(running: Running): string | null {
  const silent = listNodes().filter(
    ({ id, status }) => !running.has(id) && (status === 'ready' || status === 'unreachable'),
  )
  if (silent.length === 0) return null
  const names = boundThings()
    .filter(({ id, nodeId }) => running.has(nodeId) && !runs(running, id))
    .map(({ name }) => name)
  if (names.length === 0) return null
  const nodes = silent.map(({ name }) => name).join(' and ')
  const [away, exit] =
    silent.length === 1
      ? ['does not answer', 'bring it back, or end its engine']
      : ['do not answer', 'bring them back, or end their engines']
  return `${nodes} ${away}, and may run what was moved there after the backup, such as ${names.join(', ')}: ${exit}, so that nothing runs twice`
}

/** What has its data on one node, and is to run. */
function boundThings(): { id: string; name: string; nodeId: string }[] {
  const datastores = allDatastores().filter(({ status }) => status !== 'deleting')
  const services = allServices().filter(
    (row) =>
      disksOf(row).length > 0 && !row.deleting && row.live_deploy_id !== null && wantedInstances(row) > 0,
  )
  return [
    ...datastores.map(({ id, name, node_id }) => ({ id, name, nodeId: node_id })),
    ...services.map((row) => ({ id: row.id, name: row.name, nodeId: nodeOfDisks(row) })),
  ]
}

function runs(running: Running, id: string): boolean {
  return [...running.values()].flat().some(({ state }) => state.name === id || isInstanceOf(state.labels, id))
}

function isInstanceOf(labels: Record<string, string>, serviceId: string): boolean {
  return labels['deployer.kind'] === 'instance' && labels['deployer.service'] === serviceId
}
