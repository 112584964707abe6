import { useDatabase } from '#server/context.ts'
import type { Snapshot } from '#server/deploys/store.ts'
import { AppError } from '#server/errors.ts'
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
import type { ServiceRow } from '#server/services/store.ts'
import { TYPES } from '#server/services/types.ts'
import type { ContainerState, Engine } from '../engine/index.ts'
import { addressFor } from '../environments/addresses.ts'
import type { Network } from '../environments/networks.ts'
import type { World } from '../world.ts'
import { diskName, diskOf, changeDiskOwner } from './disk.ts'
import type { Launch } from './launch.ts'
import { serviceContainer } from './service-container.ts'

/** How long a stopped program may take before it is killed. */
export const STOP_GRACE_SECONDS = Math.ceil(schedule.stopGraceMs / 1_000)

/** Records a new instance of a deploy with an address of its own, status `starting`. */
export function addInstance(service: ServiceRow, deployId: string, network: Network): string {
  const id = newInstanceId(service.id)
  useDatabase().transaction(() =>
    insertInstance(id, service.id, deployId, allotAddress(service.environment_id, network.subnet, id)),
  )
  return id
}

/**
 * Creates the instance's container from the deploy's snapshot and starts it. An existing container is only started, unless
 * it lost its network or settings: then it is created again. Throws `runtime_error`.
 */
export async function startInstance(world: World, launch: Launch, instance: InstanceRow): Promise<void> {
  const { containers } = world.engine
  instance = await withOwnAddress(world.engine, launch, instance)
  let found = await containers.inspect(instance.id)
  if (found && lossOf(found, instance, launch.network) !== null) {
    await containers.stop(instance.id, STOP_GRACE_SECONDS)
    await containers.remove(instance.id)
    found = null
  }
  if (found === null) await createContainer(world, launch, instance)
  if (found === null || found.status === 'created') await changeDiskOwner(world.engine, instance.id, launch)
  // It may have been removed while its container was created.
  if (!getInstance(instance.id)) {
    await containers.remove(instance.id)
    throw new AppError('conflict', `${instance.id} was removed while it was starting`)
  }
  if (launch.snapshot.disk_mount_path !== null) await assertDiskUnused(world.engine, launch.service)
  await containers.start(instance.id)
  const started = await containers.inspect(instance.id)
  updateInstance(instance.id, {
    started_at: Date.now(),
    settings: started?.settings ?? null,
    ...upstreamOf(world, instance, launch.snapshot, started),
  })
}

/**
 * Throws `runtime_error` if another container uses the service's disk: two programs must not write to it. After this server
 * was restored from a copy, a container that was deployed after the copy may still be running.
 */
async function assertDiskUnused(engine: Engine, service: ServiceRow): Promise<void> {
  const [other] = await engine.containers.unrecordedUsers(diskName(service.id))
  if (other === undefined) return
  throw new AppError(
    'runtime_error',
    `the disk is in use by the container ${other}, which is newer than this server's data: docker rm -f ${other}`,
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

/** Returns what a container lost of its instance's network and settings, as a message; null if it has everything. */
export function lossOf(
  container: ContainerState,
  instance: Pick<InstanceRow, 'address' | 'settings'>,
  network: Pick<Network, 'id' | 'name'>,
): string | null {
  if (container.status === 'removing' || container.status === 'dead')
    return 'its container was removed externally'
  // Podman reports the name instead of the id, and no address of a stopped container.
  const endpoint = container.networks.find(({ id }) => id === network.id || id === network.name)
  if (!endpoint) return 'its container lost its network'
  if (endpoint.address !== null && endpoint.address !== instance.address)
    return 'its container lost its address'
  if (instance.settings !== null && container.settings !== instance.settings)
    return "its container's settings were changed externally"
  return null
}

async function createContainer(world: World, launch: Launch, instance: InstanceRow): Promise<void> {
  const { service, snapshot, nameServer } = launch
  // The recorded settings of a former container do not apply to this one.
  updateInstance(instance.id, { settings: null })
  const command = snapshot.start_command
  await world.engine.containers.create({
    ...serviceContainer(launch, { name: instance.id, kind: 'instance', address: instance.address, command }),
    ...(await diskOf(world.engine, service.id, snapshot)),
    // The engine would answer an alias before it asks the resolver, even for an instance that is out of rotation.
    aliases: TYPES[service.type].listens && nameServer === null ? [service.name] : [],
    ...(world.reachByAddress || snapshot.port === null ? {} : { ports: [{ inside: snapshot.port }] }),
  })
}

/** Stops and removes an instance's container and deletes the instance. Missing parts are skipped. */
export async function removeInstance(
  world: World,
  instance: Pick<InstanceRow, 'id'>,
  graceSeconds: number,
): Promise<void> {
  if (graceSeconds > 0) await world.engine.containers.stop(instance.id, graceSeconds)
  // Even if there is none: this also deletes what is recorded about it.
  await world.engine.containers.remove(instance.id)
  releaseAddress(instance.id)
  deleteInstance(instance.id)
}

function upstreamOf(
  world: World,
  instance: InstanceRow,
  { port }: Snapshot,
  container: ContainerState | null,
): Pick<InstanceRow, 'upstream_host' | 'upstream_port'> {
  if (port === null) return { upstream_host: null, upstream_port: null }
  if (world.reachByAddress) return { upstream_host: instance.address, upstream_port: port }
  return { upstream_host: '127.0.0.1', upstream_port: container?.publishedPort ?? null }
}
