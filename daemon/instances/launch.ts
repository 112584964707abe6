import type { DeployRow, Snapshot } from '#server/deploys/store.ts'
import { loadEnvironment } from '#server/environments/store.ts'
import { ownNodeId } from '#server/nodes/store.ts'
import type { ServiceRow } from '#server/services/store.ts'
import { ensureNetworkOn, type Network } from '../environments/networks.ts'
import { nameServerOf } from '../environments/resolver.ts'
import type { World } from '../world.ts'
import { provideImage } from './node-image.ts'

/** What the containers of a deploy on one node are created with. It is valid as long as their network exists. */
export interface Launch {
  service: ServiceRow
  deploy: DeployRow
  snapshot: Snapshot
  /** Where they run. */
  nodeId: string
  network: Network
  /** Null if names are resolved by the engine's aliases. */
  nameServer: string | null
  /** The image's `USER`; empty is root. */
  user: string
}

/**
 * Finds out what the containers of a deploy need on a node, and provides their network and image there. Returns `last` again
 * unless the network was created again since. Throws `runtime_error`.
 */
export async function prepareLaunch(
  world: World,
  service: ServiceRow,
  deploy: DeployRow,
  snapshot: Snapshot,
  nodeId: string,
  { last, signal }: { last?: Launch; signal?: AbortSignal } = {},
): Promise<Launch> {
  const environment = loadEnvironment(service.environment_id)
  const network = await ensureNetworkOn(world, environment, nodeId)
  if (last?.network.id === network.id && last.network.overlay?.id === network.overlay?.id) return last
  if (nodeId !== ownNodeId()) await provideImage(world, nodeId, deploy, snapshot.image_id, signal)
  const nameServer = await nameServerOf(world, environment, network, snapshot.image_id)
  const image = await world.engineOf(nodeId).images.inspect(snapshot.image_id)
  return { service, deploy, snapshot, nodeId, network, nameServer, user: image?.user ?? '' }
}
