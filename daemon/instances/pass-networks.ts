import { loadEnvironment, type Environment } from '#server/environments/store.ts'
import type { ServiceRow } from '#server/services/store.ts'
import { ensureNetworkOn, type Network } from '../environments/networks.ts'
import type { World } from '../world.ts'

/** The networks of a service on the nodes, each looked at once in a pass. */
export class PassNetworks {
  readonly #world: World
  readonly #environment: Environment
  readonly #found = new Map<string, Network>()

  constructor(world: World, service: ServiceRow) {
    this.#world = world
    this.#environment = loadEnvironment(service.environment_id)
  }

  /** The network on a node, which is created if it is missing. Throws `runtime_error`. */
  async on(nodeId: string): Promise<Network> {
    const found = this.#found.get(nodeId) ?? (await ensureNetworkOn(this.#world, this.#environment, nodeId))
    this.#found.set(nodeId, found)
    return found
  }
}
