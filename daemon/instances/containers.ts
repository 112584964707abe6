import { useDatabase } from '#server/context.ts'
import { diskTitle } from '#server/disks/list.ts'
import { diskVolume } from '#server/disks/volume.ts'
import { AppError } from '#server/errors.ts'
import { loadEnvironment } from '#server/environments/store.ts'
import { allotAddress, releaseAddress } from '#server/instances/addresses.ts'
import {
  deleteInstance,
  getInstance,
  insertInstance,
  newInstanceId,
  updateInstance,
  type InstanceRow,
} from '#server/instances/store.ts'
import { schedule } from '#server/options/schedule.ts'
import { USUAL_SECONDS } from '#server/services/replacement.ts'
import { getService, type ServiceRow } from '#server/services/store.ts'
import { TYPES } from '#server/services/types.ts'
import type { ContainerState, Engine } from '../engine/index.ts'
import { addressFor } from '../environments/addresses.ts'
import type { Network } from '../environments/networks.ts'
import { isLost } from '../nodes/presence.ts'
import type { World } from '../world.ts'
import { changeDiskOwner, mountsOf } from './disk.ts'
import { REMOVED } from './exit.ts'
import type { Launch } from './launch.ts'
import { putSecretFiles } from './secret-files.ts'
import { serviceContainer } from './service-container.ts'

/**
 * Records a new instance of a deploy on a node with an address of its own, status `starting`. Its environment must have a
 * network.
 */
export function addInstance(service: ServiceRow, deployId: string, nodeId: string): string {
  const id = newInstanceId(service.id)
  const { subnet } = loadEnvironment(service.environment_id)
  useDatabase().transaction(() =>
    insertInstance({
      ...{ id, service_id: service.id, deploy_id: deployId, node_id: nodeId },
      address: allotAddress(service.environment_id, subnet!, id),
    }),
  )
  return id
}

/**
 * Creates the instance's container from the deploy's snapshot and starts it. An existing container is only started, unless
 * it lost its network or settings: then it is created again. Throws `runtime_error`.
 */
export async function startInstance(world: World, launch: Launch, instance: InstanceRow): Promise<void> {
  const engine = world.engineOf(instance.node_id)
  const { containers } = engine
  instance = await withOwnAddress(engine, launch, instance)
  let found = await containers.inspect(instance.id)
  if (found && lossOf(found, instance, launch.network) !== null) {
    await containers.stop(instance.id, stopSecondsOf(instance))
    await containers.remove(instance.id)
    found = null
  }
  if (found === null) await createContainer(world, launch, instance)
  if (found === null || found.status === 'created') {
    await changeDiskOwner(engine, instance.id, launch)
    await putSecretFiles(engine, instance.id, launch)
  }
  // It may have been removed while its container was created.
  if (!getInstance(instance.id)) {
    await containers.remove(instance.id)
    throw new AppError('conflict', `${instance.id} was removed while it was starting`)
  }
  for (const { name } of launch.snapshot.disks)
    await assertDiskUnused(engine, launch.service, name, instance.id)
  await start(engine, instance.id)
  const started = await containers.inspect(instance.id)
  updateInstance(instance.id, {
    started_at: Date.now(),
    settings: started?.settings ?? null,
    ...upstreamOf(world, instance, launch, started),
  })
}

/**
 * Throws `runtime_error` if a container other than `user` runs with the service's disk of this name: two programs must not
 * write to it. After this server was restored from a copy, a container that was deployed after the copy may still be running;
 * after a node was lost and is back, those that were forgotten meanwhile.
 */
export async function assertDiskUnused(
  { containers }: Engine,
  service: ServiceRow,
  disk: string,
  user?: string,
): Promise<void> {
  const users = await containers.runningUsers(diskVolume(service.id, disk))
  const other = users.find(({ name }) => name !== user)
  if (!other) return
  const advice = other.isRecorded
    ? 'which is still to be stopped: try again in a minute'
    : `which is newer than this server's data: docker rm -f ${other.name}`
  throw new AppError(
    'runtime_error',
    `${diskTitle(service, disk)} is in use by the container ${other.name}, ${advice}`,
  )
}

/** Returns the instance with an address that no unknown container uses. */
async function withOwnAddress(
  engine: Engine,
  { service, network }: Launch,
  instance: InstanceRow,
): Promise<InstanceRow> {
  const address = await addressFor(engine, allotAddress, service.environment_id, network, instance.id)
  if (address === instance.address) return instance
  updateInstance(instance.id, { address })
  return { ...instance, address }
}

/** Starts a container. One that is removed meanwhile is refused by the engine in several ways, none of which says so. */
async function start({ containers }: Engine, name: string): Promise<void> {
  try {
    await containers.start(name)
  } catch (error) {
    const left = await containers.inspect(name)
    if (left !== null && !isRemoved(left)) throw error
    throw new AppError('runtime_error', REMOVED, { cause: error })
  }
}

function isRemoved({ status }: ContainerState): boolean {
  return status === 'removing' || status === 'dead'
}

/** Returns what a container lost of its instance's network and settings, as a message; null if it has everything. */
export function lossOf(
  container: ContainerState,
  instance: Pick<InstanceRow, 'address' | 'settings'>,
  network: Pick<Network, 'id' | 'name' | 'addressOf'>,
): string | null {
  if (isRemoved(container)) return REMOVED
  // Podman reports the name instead of the id, and no address of a stopped container.
  const endpoint = container.networks.find(({ id }) => id === network.id || id === network.name)
  if (!endpoint) return 'its container lost its network'
  if (endpoint.address !== null && endpoint.address !== network.addressOf(instance.address))
    return 'its container lost its address'
  if (instance.settings !== null && container.settings !== instance.settings)
    return "its container's settings were changed externally"
  return null
}

async function createContainer(world: World, launch: Launch, instance: InstanceRow): Promise<void> {
  const { service, snapshot, nameServer } = launch
  const engine = world.engineOf(instance.node_id)
  // The recorded settings of a former container do not apply to this one.
  updateInstance(instance.id, { settings: null })
  const command = snapshot.start_command
  await engine.containers.create({
    ...serviceContainer(launch, { name: instance.id, kind: 'instance', address: instance.address, command }),
    volumes: await mountsOf(engine, service.id, snapshot),
    // The engine would answer an alias before it asks the resolver, even for an instance that is out of rotation.
    aliases: TYPES[service.type].listens && nameServer === null ? [service.name] : [],
    ...(world.reachByAddress || snapshot.port === null ? {} : { ports: [{ inside: snapshot.port }] }),
  })
}

/** How many seconds an instance's program may take to stop before it is killed, as its service is set now. */
export function stopSecondsOf({ service_id }: Pick<InstanceRow, 'service_id'>): number {
  const allowed = getService(service_id)?.max_shutdown_delay_seconds ?? USUAL_SECONDS
  return Math.min(allowed, Math.ceil(schedule.longestStopMs / 1_000))
}

/** How many milliseconds requests to an instance that left rotation may last, as its service is set now. */
export function drainMsOf({ service_id }: Pick<InstanceRow, 'service_id'>): number {
  return (getService(service_id)?.drain_seconds ?? USUAL_SECONDS) * 1_000
}

/** Removals that let a program end, by instance. */
const removals = new Map<string, Promise<void>>()

/**
 * Stops and removes an instance's container and deletes the instance. Missing parts are skipped. A rollout and the instance
 * keeper may remove the same one: its program is told to stop once. On a node that is lost only the instance is deleted.
 */
export async function removeInstance(
  world: World,
  instance: Pick<InstanceRow, 'id' | 'node_id'>,
  graceSeconds: number,
): Promise<void> {
  const { id, node_id } = instance
  if (isLost(node_id)) return forgetInstance(id)
  if (graceSeconds === 0) return await removeNow(world, instance)
  const removal =
    removals.get(id) ??
    world
      .engineOf(node_id)
      .containers.stop(id, graceSeconds)
      .then(() => removeNow(world, instance))
      .finally(() => removals.delete(id))
  removals.set(id, removal)
  await removal
}

async function removeNow(world: World, { id, node_id }: Pick<InstanceRow, 'id' | 'node_id'>): Promise<void> {
  // Even if there is no container: this also deletes what is recorded about it.
  await world.engineOf(node_id).containers.remove(id)
  forgetInstance(id)
}

/** Deletes an instance whose container is gone, or on a lost node: should that come back, the sweep removes it as a stray. */
export function forgetInstance(id: string): void {
  releaseAddress(id)
  deleteInstance(id)
}

function upstreamOf(
  world: World,
  instance: InstanceRow,
  { network, snapshot: { port } }: Pick<Launch, 'network' | 'snapshot'>,
  container: ContainerState | null,
): Pick<InstanceRow, 'upstream_host' | 'upstream_port'> {
  if (port === null) return { upstream_host: null, upstream_port: null }
  if (world.reachByAddress) return { upstream_host: network.addressOf(instance.address), upstream_port: port }
  return { upstream_host: '127.0.0.1', upstream_port: container?.publishedPort ?? null }
}
