import type { DeployRow, Snapshot } from '#server/deploys/store.ts'
import { findEnvironment } from '#server/environments/store.ts'
import type { ServiceRow } from '#server/services/store.ts'
import { ensureNetwork, type Network } from '../environments/networks.ts'
import { nameServerOf } from '../environments/resolver.ts'
import type { World } from '../world.ts'

/** What the containers of a deploy are created with. It is valid as long as their network exists. */
export interface Launch {
  service: ServiceRow
  deploy: DeployRow
  snapshot: Snapshot
  network: Network
  /** Null if names are resolved by the engine's aliases. */
  nameServer: string | null
  /** The image's `USER`; empty is root. */
  user: string
}

/**
 * Finds out what the containers of a deploy need, and creates their network if it is missing. Returns `last` again unless
 * the network was created again since. Throws `runtime_error`.
 */
export async function prepareLaunch(
  world: World,
  service: ServiceRow,
  deploy: DeployRow,
  snapshot: Snapshot,
  last?: Launch,
): Promise<Launch> {
  const environment = findEnvironment(service.environment_id)
  const network = await ensureNetwork(world, environment)
  if (last && last.network.id === network.id) return last
  const nameServer = await nameServerOf(world, environment, network, snapshot.image_id)
  const image = await world.engine.images.inspect(snapshot.image_id)
  return { service, deploy, snapshot, network, nameServer, user: image?.user ?? '' }
}
