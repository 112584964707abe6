import { useDatabase } from '#server/context.ts'
import { findEnvironment } from '#server/environments/store.ts'
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
import type { DeployRow, Snapshot } from '#server/deploys/store.ts'
import type { ServiceRow } from '#server/services/store.ts'
import { TYPES } from '#server/services/types.ts'
import { ensureNetwork } from '../environments/networks.ts'
import type { World } from '../world.ts'
import { diskOf, giveDisk } from './disk.ts'
import { serviceContainer } from './service-container.ts'

/** How long a stopped program may take before it is killed. */
export const STOP_GRACE_SECONDS = 30

/** Records a new instance of a deploy with an address of its own, status `starting`. */
export async function addInstance(world: World, service: ServiceRow, deployId: string): Promise<string> {
  const network = await ensureNetwork(world.engine, findEnvironment(service.environment_id))
  const id = newInstanceId(service.id)
  useDatabase().transaction(() =>
    insertInstance(id, service.id, deployId, allotAddress(service.environment_id, network.subnet, id)),
  )
  return id
}

/**
 * Creates the instance's container from the deploy's snapshot and starts it; a container that is already there is only
 * started. Throws `runtime_error`.
 */
export async function startInstance(
  world: World,
  instance: InstanceRow,
  service: ServiceRow,
  deploy: DeployRow,
  snapshot: Snapshot,
): Promise<void> {
  const { engine } = world
  const found = await engine.containers.inspect(instance.id)
  if (found === null) {
    const role = {
      name: instance.id,
      kind: 'instance',
      address: instance.address,
      command: snapshot.start_command,
    } as const
    const shared = await serviceContainer(world, service, deploy, snapshot, role)
    await engine.containers.create({
      ...shared,
      ...(await diskOf(engine, service.id, snapshot)),
      // The engine would answer an alias before it asks the resolver, also for an instance out of rotation.
      aliases: TYPES[service.type].listens && shared.dns === undefined ? [service.name] : [],
      ...(world.reachByAddress || snapshot.port === null ? {} : { publishPort: snapshot.port }),
    })
  }
  if (found === null || found.status === 'created') await giveDisk(engine, instance.id, snapshot)
  // It may have been removed while its container was made.
  if (!getInstance(instance.id)) {
    await engine.containers.remove(instance.id)
    throw new AppError('conflict', `${instance.id} was removed while it was started`)
  }
  await engine.containers.start(instance.id)
  updateInstance(instance.id, { started_at: Date.now(), ...(await upstreamOf(world, instance, snapshot)) })
}

/** Stops an instance's container, removes it and forgets the instance. Missing parts do not matter. */
export async function removeInstance(
  world: World,
  instance: Pick<InstanceRow, 'id'>,
  graceSeconds: number,
): Promise<void> {
  if ((await world.engine.containers.inspect(instance.id)) !== null) {
    if (graceSeconds > 0) await world.engine.containers.stop(instance.id, graceSeconds)
    await world.engine.containers.remove(instance.id)
  }
  releaseAddress(instance.id)
  deleteInstance(instance.id)
}

async function upstreamOf(
  world: World,
  instance: InstanceRow,
  snapshot: Snapshot,
): Promise<Pick<InstanceRow, 'upstream_host' | 'upstream_port'>> {
  if (snapshot.port === null) return { upstream_host: null, upstream_port: null }
  if (world.reachByAddress) return { upstream_host: instance.address, upstream_port: snapshot.port }
  const state = await world.engine.containers.inspect(instance.id)
  return { upstream_host: '127.0.0.1', upstream_port: state?.publishedPort ?? null }
}
