import { useContext } from '#server/context.ts'
import { messageOf } from '#server/errors.ts'
import type { NodeCheck } from '#server/nodes/schema.ts'
import { getNode, ownNodeId, type NodeRow } from '#server/nodes/store.ts'
import type { Engine } from '../engine/index.ts'
import type { AgentServices } from './agent-service.ts'
import { Chores } from './chores.ts'
import { metadataFault, overlaySubnets } from './metadata.ts'
import type { Tunnel } from './tunnel.ts'

/** How often the agent of a node is compared with what it should be, and tried again. */
const AGENT_MS = 3_600_000
const RETRY_MS = 10_000
/** How soon the network of a node that joins is looked at again. */
const NETWORK_RETRY_MS = 3_000
/** How often the rules of a node's packet filter are set again, which other programs may change. */
const RULES_MS = 3_600_000
const RULES_RETRY_MS = 60_000
/** How often it is asked whether there is what they are for. */
const RULES_WAIT_MS = 2_000

/** The rules of a node's packet filter. */
interface Rules {
  /** Why they could not be set; undefined while there is nothing that they are for. */
  fault: string | null | undefined
  /** What they were set for. */
  overlays: string[]
}

/** The way to a node. */
export interface Link {
  tunnel: Pick<Tunnel, 'fault' | 'isKnown' | 'figures'>
  engine: Engine
}

/** How the last care for an agent went, and whether the node itself could be reached for it. */
interface AgentChore {
  fault: string | null
  isReached: boolean
}

/** What the upkeep needs of the rest. */
export interface UpkeepParts {
  agents: Pick<AgentServices, 'bring' | 'provide'>
  /** Closes metadata addresses to a node's containers; false while there is no network that they could leave by. */
  closeMetadata: (engine: Engine, overlays: readonly string[]) => Promise<boolean>
  /** Makes a machine fit to join, and looks at the network between it and the others. */
  admit: (nodeId: string) => Promise<NodeCheck>
}

/** What is done for the other nodes in the background; each method returns how that last went, undefined before it has ended. */
export class Upkeep {
  readonly #parts: UpkeepParts
  readonly #agents = new Chores<AgentChore>()
  readonly #networks = new Chores<string[]>()
  readonly #rules = new Chores<Rules>()

  constructor(parts: UpkeepParts) {
    this.#parts = parts
  }

  /**
   * Keeps a node's agent as this version of the server wants it. One that answers gets its image first. One that does not is
   * given what needs no way to it, since that may be what is wrong: its certificate, its address and port.
   */
  agent(row: NodeRow, { tunnel, engine }: Link, signal: AbortSignal): AgentChore | undefined {
    const everyMs = (last: AgentChore) => (last.fault === null && last.isReached ? AGENT_MS : RETRY_MS)
    const isReached = tunnel.fault === null
    return this.#agents.ask(row.id, everyMs, async () => {
      try {
        const { agents } = this.#parts
        if (isReached) await agents.bring(engine, signal)
        const address = getNode(ownNodeId())!.address!
        const port = useContext().options.nodePort
        await agents.provide(row, { address, port }, isReached)
        return { fault: null, isReached }
      } catch (error) {
        return { fault: messageOf(error), isReached }
      }
    })
  }

  /** Looks at the network of a node that joins until nothing is wrong. */
  network({ id }: NodeRow): string[] | undefined {
    return this.#networks.ask(
      id,
      () => NETWORK_RETRY_MS,
      async () => {
        try {
          const { checks } = await this.#parts.admit(id)
          return checks.filter(({ ok }) => !ok).map(({ message }) => message)
        } catch (error) {
          return [messageOf(error)]
        }
      },
    )
  }

  /** Keeps the containers of a node from metadata addresses; it needs the agent's image there. */
  rules({ id }: NodeRow, engine: Engine): Rules | undefined {
    const overlays = overlaySubnets()
    const everyMs = (last: Rules): number => {
      if (last.fault === undefined) return RULES_WAIT_MS
      if (last.overlays.join() !== overlays.join()) return 0
      return last.fault === null ? RULES_MS : RULES_RETRY_MS
    }
    return this.#rules.ask(id, everyMs, async () => {
      try {
        const isSet = await this.#parts.closeMetadata(engine, overlays)
        return { fault: isSet ? null : undefined, overlays }
      } catch (error) {
        return { fault: metadataFault(error), overlays }
      }
    })
  }

  /** The rules are set again as soon as the node is back: its engine may have set its own. */
  forgetRules(nodeId: string): void {
    this.#rules.forget(nodeId)
  }

  forget(nodeId: string): void {
    for (const chores of [this.#agents, this.#networks, this.#rules]) chores.forget(nodeId)
  }
}
