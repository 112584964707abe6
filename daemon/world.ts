import { logger } from '#server/log.ts'
import { findEnvironment } from '#server/environments/store.ts'
import type { Engine } from './engine/index.ts'
import { ensureNetwork, isGatewayLocal } from './environments/networks.ts'
import type { DataPlane } from './proxy/data-plane.ts'

const log = logger('engine')

/** What the tasks act on: the container engine and the data plane. */
export interface World {
  engine: Engine
  dataPlane: DataPlane
  /** Whether containers are reached by their address, else by a port published on loopback; null until the engine was asked. */
  reachByAddress: boolean | null
  /** Why the engine did not answer when it was last asked; null when it did, or was not asked yet. */
  engineFault: string | null
}

/**
 * Proves once how containers are reached: by making production's network and looking for its gateway among the host's
 * own addresses. Rootless engines and those in a virtual machine have it elsewhere.
 */
export async function meetEngine(world: World): Promise<void> {
  if (world.reachByAddress !== null) return
  const { version } = await world.engine.info()
  const { subnet } = await ensureNetwork(world.engine, findEnvironment())
  world.reachByAddress = await isGatewayLocal(subnet)
  log.info(`engine ${version}`, { reached_by: world.reachByAddress ? 'address' : 'published port' })
  if (!world.reachByAddress) {
    log.warn(
      'containers cannot be reached by address: instances are published on loopback ports, and health is judged less exactly',
    )
  }
}
