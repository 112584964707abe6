import type { DeployRow, Snapshot } from '#server/deploys/store.ts'
import { findEnvironment } from '#server/environments/store.ts'
import type { ServiceRow } from '#server/services/store.ts'
import { ensureNetwork, type Network } from '../environments/networks.ts'
import { nameServerOf } from '../environments/resolver.ts'
import type { World } from '../world.ts'

/** What a container of a deploy is made with. It holds for as long as their network is there. */
export interface Launch {
  service: ServiceRow
  deploy: DeployRow
  snapshot: Snapshot
  network: Network
  /** Null where engine aliases have to serve. */
  nameServer: string | null
  /** Whom the image runs as, in the words of its `USER`; empty is root. */
  user: string
}

/**
 * Finds out what the containers of a deploy need, and makes their network where it is not there. What was found out last
 * is answered again unless the network was made anew since. Throws `runtime_error`.
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
