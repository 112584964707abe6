import { listEnvironments } from '#server/environments/store.ts'
import { logger } from '#server/log.ts'
import type { World } from '../world.ts'
import { guardMetadata } from './metadata.ts'
import { ensureNetwork, isGatewayLocal } from './networks.ts'
import { removeLeftProbes } from './resolver.ts'

const log = logger('engine')

/**
 * Determines once how containers are reached: creates production's network and checks whether its gateway is one of the
 * host's own addresses. With a rootless engine, or an engine in a virtual machine, it is not; then the engine publishes the
 * ports of containers on loopback.
 */
export async function detectReach(world: World): Promise<void> {
  if (world.reachByAddress !== null) return
  const { version } = await world.engine.info()
  await removeLeftProbes(world)
  const { subnet } = await ensureNetwork(world, listEnvironments()[0]!)
  const isLocal = await isGatewayLocal(subnet)
  await guardMetadata(world, isLocal)
  // A data plane that cannot be reached gets the new network's names once it is back.
  await world.dataPlane.sync().catch(() => {})
  // From now on containers are started.
  world.reachByAddress = isLocal
  log.info(`engine ${version}`, { reached_by: world.reachByAddress ? 'address' : 'published port' })
  if (!world.reachByAddress) {
    log.warn(
      'containers cannot be reached by address: instances are published on loopback ports, and health checks are less exact',
    )
  }
}
