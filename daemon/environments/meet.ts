import { findEnvironment } from '#server/environments/store.ts'
import { logger } from '#server/log.ts'
import type { World } from '../world.ts'
import { guardMetadata } from './metadata.ts'
import { ensureNetwork, isGatewayLocal } from './networks.ts'
import { removeLeftProbes } from './resolver.ts'

const log = logger('engine')

/**
 * Proves once how containers are reached: by making production's network and looking for its gateway among the host's
 * own addresses. Rootless engines and those in a virtual machine have it elsewhere.
 */
export async function meetEngine(world: World): Promise<void> {
  if (world.reachByAddress !== null) return
  const { version } = await world.engine.info()
  await removeLeftProbes(world)
  const { subnet } = await ensureNetwork(world, findEnvironment())
  const isLocal = await isGatewayLocal(subnet)
  await guardMetadata(world, isLocal)
  // From now on containers are started.
  world.reachByAddress = isLocal
  log.info(`engine ${version}`, { reached_by: world.reachByAddress ? 'address' : 'published port' })
  if (!world.reachByAddress) {
    log.warn(
      'containers cannot be reached by address: instances are published on loopback ports, and health is judged less exactly',
    )
  }
}
