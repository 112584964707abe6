import { getNode, ownNodeId, updateNode, type NodeRow } from '#server/nodes/store.ts'
import type { SwarmNode } from '../engine/index.ts'
import type { Swarm } from '../engine/swarm.ts'

/** The swarm that this server began, whose only manager is its own engine. */
export class OwnSwarm {
  readonly #swarm: Pick<Swarm, 'info' | 'init' | 'leave' | 'nodes'>

  constructor(swarm: Pick<Swarm, 'info' | 'init' | 'leave' | 'nodes'>) {
    this.#swarm = swarm
  }

  /** Begins it, unless that is done; others reach its manager at `address`. Throws `runtime_error`. */
  async begin(address: string): Promise<void> {
    const { id, swarm_id } = ownNode()
    if (swarm_id !== null) return
    // The address without an id says that a swarm was being begun, if the server is killed before it has the id.
    updateNode(id, { address })
    updateNode(id, { swarm_id: await this.#swarm.init(address) })
  }

  /** Takes over the swarm that a killed server had begun, without its id. Throws `runtime_error`. */
  async #finishBegin(): Promise<void> {
    const { id, swarm_id, address } = ownNode()
    if (swarm_id !== null || address === null) return
    const { nodeId, isManager } = await this.#swarm.info()
    const isBegun = nodeId !== null && isManager && (await this.#swarm.nodes()).length === 1
    updateNode(id, isBegun ? { swarm_id: nodeId } : { address: null })
  }

  /**
   * Its members; null without one. `expelled` when the own engine is not its manager any more, as on another machine to which
   * the server was restored; it is forgotten then. Throws `runtime_error`.
   */
  async members(): Promise<SwarmNode[] | 'expelled' | null> {
    await this.#finishBegin()
    const { id, swarm_id } = ownNode()
    if (swarm_id === null) return null
    const members = await this.#swarm.nodes().catch(async (error: unknown) => {
      const { state, nodeId } = await this.#swarm.info()
      if (state === 'inactive' || (state === 'active' && nodeId !== swarm_id)) return []
      throw error
    })
    if (members.some((member) => member.id === swarm_id)) return members
    updateNode(id, { swarm_id: null, address: null })
    return 'expelled'
  }

  /** Leaves it, which ends it. Does nothing in another one. Throws `runtime_error`. */
  async leave(): Promise<void> {
    const { id, swarm_id } = ownNode()
    if (swarm_id !== null && (await this.#swarm.info()).nodeId === swarm_id) await this.#swarm.leave()
    updateNode(id, { swarm_id: null, address: null })
  }
}

/** The row of the server's own node. */
export function ownNode(): NodeRow {
  return getNode(ownNodeId())!
}
