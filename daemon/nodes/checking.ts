import { useContext } from '#server/context.ts'
import { AppError } from '#server/errors.ts'
import type { NodeCheck } from '#server/nodes/schema.ts'
import { isManager } from '#server/nodes/managers.ts'
import { isUp } from '#server/nodes/states.ts'
import { findNode, hasOtherNodes, listNodes, type NodeRow } from '#server/nodes/store.ts'
import { Slots } from '#server/work/slots.ts'
import type { Engine } from '../engine/index.ts'
import type { AgentServices } from './agent-service.ts'
import { checkNode, notTried, type End } from './checks.ts'
import { overlayName } from './inviting.ts'
import type { Links } from './links.ts'

interface Parts {
  links: Links
  agents: AgentServices
  engineOf: (nodeId: string) => Engine
}

/** Looks at the network between nodes. */
export class Checking {
  readonly #parts: Parts
  /** Two checks at once would remove each other's programs. */
  readonly #turn = new Slots(1)

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Looks at the network between a node and all others; one that does not answer fails. Throws `runtime_error`, `conflict`. */
  async check(nodeId: string): Promise<NodeCheck> {
    const node = findNode(nodeId)
    if (!hasOtherNodes())
      throw new AppError('conflict', `${node.name} is the only node: let another machine join first`)
    const found = await this.checkAnswering(nodeId)
    const silent = listNodes().filter((other) => other.id !== nodeId && !isUp(other))
    const checks = [...found.checks, ...silent.map((other) => notTried(node, other))]
    return { ok: checks.every(({ ok }) => ok), checks }
  }

  /** Looks at the network between a node and every other one that answers. Throws `runtime_error`. */
  checkAnswering(nodeId: string): Promise<NodeCheck> {
    return this.#turn.run(async () => {
      const node = this.#endOf(findNode(nodeId))
      const others = listNodes().filter((other) => other.id !== nodeId && isUp(other))
      const ways = {
        port: useContext().options.nodePort,
        network: overlayName(),
        image: await this.#parts.agents.image(),
      }
      const ends = others.map((row) => this.#endOf(row))
      return checkNode(node, ends, ways)
    })
  }

  #endOf(row: NodeRow): End {
    if (row.address === null)
      throw new AppError('runtime_error', `${row.name} is not in a swarm with the other nodes any more`)
    const tunnel = row.is_own === 1 ? null : (this.#parts.links.get(row.id)?.tunnel ?? null)
    const { name, address } = row
    return { name, address, tunnel, isManager: isManager(row), engine: this.#parts.engineOf(row.id) }
  }
}
