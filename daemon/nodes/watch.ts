import { announceNode } from '#server/changes.ts'
import { useContext, useDatabase } from '#server/context.ts'
import { messageOf } from '#server/errors.ts'
import { newId } from '#server/ids.ts'
import { logger } from '#server/log.ts'
import { freeNodeName } from '#server/nodes/names.ts'
import type { NodeCheck } from '#server/nodes/schema.ts'
import {
  getNode,
  getNodeBySwarmId,
  insertNode,
  listNodes,
  ownNodeId,
  updateNode,
  type NodeRow,
} from '#server/nodes/store.ts'
import { emitEvent, lastReported, setReported } from '#server/notifications/events.ts'
import type { Engine, SwarmNode } from '../engine/index.ts'
import type { AgentServices } from './agent-service.ts'
import { Chores } from './chores.ts'
import { judge } from './membership.ts'
import { metadataFault, overlaySubnets } from './metadata.ts'
import type { Tunnel } from './tunnel.ts'

const log = logger('nodes')

/** How often the agent of a node is compared with what it should be, and tried again. */
const AGENT_MS = 3_600_000
const RETRY_MS = 10_000
/** How soon the network of a node that joins is looked at again. */
const NETWORK_RETRY_MS = 3_000
/** The most that a node says about its engine and its processor. */
const MAX_FACT_CHARACTERS = 64
/** How often the rules of a node's packet filter are set again, which other programs may change. */
const RULES_MS = 3_600_000
const RULES_RETRY_MS = 60_000
/** How often it is asked whether there is what they are for. */
const RULES_WAIT_MS = 2_000
/** How often the figures of a node are recorded. */
const FIGURES_MS = 30_000

/** A reason alone is not recorded more often than this: a node may answer something else each time. */
const REASON_MS = 5_000

/** The rules of a node's packet filter. */
interface Rules {
  /** Why they could not be set; undefined while there is nothing that they are for. */
  fault: string | null | undefined
  /** What they were set for. */
  overlays: string[]
}

interface Link {
  tunnel: Pick<Tunnel, 'fault' | 'isKnown' | 'figures'>
  engine: Engine
}

/** How the last care for an agent went, and whether the node itself could be reached for it. */
interface AgentChore {
  fault: string | null
  isReached: boolean
}

/** What the watch needs of the rest. */
interface Parts {
  agents: Pick<AgentServices, 'bring' | 'provide' | 'fault'>
  /** Closes metadata addresses to a node's containers; false while there is no network that they could leave by. */
  closeMetadata: (engine: Engine, overlays: readonly string[]) => Promise<boolean>
  /** Makes a machine fit to join, and looks at the network between it and the others. */
  admit: (nodeId: string) => Promise<NodeCheck>
  /** Does not throw. */
  nodesChanged: () => Promise<void>
}

/** Follows how the other nodes are, and records and tells it. */
export class Watch {
  readonly #parts: Parts
  readonly #agents = new Chores<AgentChore>()
  readonly #networks = new Chores<string[]>()
  /** When the status or reason of each node was last recorded. */
  readonly #movedAt = new Map<string, number>()
  readonly #rules = new Chores<Rules>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Records where the members of the swarm are, and those that are new. Returns whether there were any new ones. */
  adopt(members: readonly SwarmNode[], own: NodeRow): boolean {
    const present = members.filter(
      ({ id, state, address }) => id !== own.swarm_id && state === 'ready' && address !== '',
    )
    const fresh = present.filter((member) => !this.#locate(member))
    for (const member of fresh) {
      const id = newId('node')
      const name = freeNodeName(member.hostName)
      insertNode({
        ...{ id, name, is_own: 0, swarm_id: member.id, address: member.address, labels: '{}' },
        ...{ status: 'joining', reason: 'waiting for its agent', availability: 'active', drain_total: null },
        ...factsOf(member),
        disk_free_bytes: null,
        last_seen_at: Date.now(),
        joined_at: null,
        created_at: Date.now(),
      })
      log.info('a machine joins', { node: name, address: member.address })
      announceNode(id, 'created')
    }
    return fresh.length > 0
  }

  /** Records the address of a known member. Returns false for a new one. */
  #locate({ id, address }: SwarmNode): boolean {
    const known = getNodeBySwarmId(id)
    if (known && known.address !== address) {
      updateNode(known.id, { address })
      announceNode(known.id)
    }
    return known !== undefined
  }

  /** Brings what is recorded of a node in line with what it shows. */
  async settle(
    row: NodeRow,
    member: SwarmNode | undefined,
    { tunnel, engine }: Link,
    signal: AbortSignal,
  ): Promise<void> {
    // What was known before a restart of the server holds until more is.
    if (!tunnel.isKnown) return
    const isJoining = row.joined_at === null
    const agent = this.#followAgent(row, { tunnel, engine }, signal)
    const isSilent = tunnel.fault !== null
    const agentFault = agent?.fault ?? (isJoining && isSilent ? await this.#parts.agents.fault(row.id) : null)
    const networkFaults = isJoining && !isSilent ? (this.#followNetwork(row) ?? null) : null
    // An engine that comes back may have set its own rules again.
    if (isSilent) this.#rules.forget(row.id)
    const rules = !isSilent && agent?.fault === null ? this.#followRules(row, engine) : undefined
    const next = judge(row, {
      ...{ member, fault: tunnel.fault, agentFault, networkFaults },
      metadataFault: rules && rules.fault,
    })
    if (next.status !== row.status || (next.reason !== row.reason && this.#isReasonDue(row.id)))
      this.#move(row, next)
    if (!isSilent && member && Date.now() - (row.last_seen_at ?? 0) > FIGURES_MS)
      updateNode(row.id, {
        ...factsOf(member),
        disk_free_bytes: tunnel.figures?.disk?.freeBytes ?? null,
        last_seen_at: Date.now(),
      })
  }

  /** Every other node is down, since nothing is known of any of them. */
  loseAll(reason: string): void {
    for (const row of listNodes()) if (row.is_own === 0) this.#move(row, { status: 'down', reason })
  }

  forget(nodeId: string): void {
    this.#agents.forget(nodeId)
    this.#networks.forget(nodeId)
    this.#movedAt.delete(nodeId)
    this.#rules.forget(nodeId)
    setReported(keyOf(nodeId), null)
  }

  #isReasonDue(nodeId: string): boolean {
    return Date.now() - (this.#movedAt.get(nodeId) ?? 0) > REASON_MS
  }

  /**
   * Keeps a node's agent as this version of the server wants it. One that answers gets its image first. One that does not is
   * given what needs no way to it, since that may be what is wrong: its certificate, its address and port.
   */
  #followAgent(row: NodeRow, { tunnel, engine }: Link, signal: AbortSignal): AgentChore | undefined {
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
  #followNetwork({ id }: NodeRow): string[] | undefined {
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
  #followRules({ id }: NodeRow, engine: Engine): Rules | undefined {
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

  #move(row: NodeRow, { status, reason }: Pick<NodeRow, 'status' | 'reason'>): void {
    const key = keyOf(row.id)
    const joins = status === 'ready' && row.joined_at === null
    this.#movedAt.set(row.id, Date.now())
    useDatabase().transaction(() => {
      updateNode(row.id, {
        ...{ status, reason },
        ...(status === 'ready' ? { last_seen_at: Date.now() } : {}),
        ...(joins ? { joined_at: Date.now() } : {}),
      })
      if (status === row.status) return
      const wasDown = lastReported(key) !== null
      if (status === 'down' && !wasDown) {
        setReported(key, 'down')
        emitEvent('node.down', row.id, reason)
      } else if (status === 'ready') {
        if (wasDown) setReported(key, null)
        if (joins) emitEvent('node.joined', row.id)
        else if (wasDown) emitEvent('node.up', row.id)
      }
    })
    announceNode(row.id)
    if (status !== row.status)
      log.info('a node has changed', { node: row.name, status, reason: reason ?? '' })
    if (status === 'ready' && reason !== null && reason !== row.reason)
      log.warn('a node is not as it should be', { node: row.name, reason })
    if (joins) void this.#parts.nodesChanged()
  }
}

/** Under which it is kept that a node's end was told. */
function keyOf(nodeId: string): string {
  return `down ${nodeId}`
}

function factsOf({ engineVersion, architecture, cpus, memoryBytes }: SwarmNode) {
  return {
    engine_version: engineVersion.slice(0, MAX_FACT_CHARACTERS),
    architecture: architecture.slice(0, MAX_FACT_CHARACTERS),
    ...{ cpus, memory_bytes: Math.min(memoryBytes, Number.MAX_SAFE_INTEGER) },
  }
}
