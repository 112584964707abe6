import { announceNode } from '#server/changes.ts'
import { useDatabase } from '#server/context.ts'
import { newId } from '#server/ids.ts'
import { logger } from '#server/log.ts'
import { freeNodeName } from '#server/nodes/names.ts'
import { getNodeBySwarmId, insertNode, listNodes, updateNode, type NodeRow } from '#server/nodes/store.ts'
import { emitEvent, lastReported, setReported } from '#server/notifications/events.ts'
import type { SwarmNode } from '../engine/index.ts'
import type { AgentServices } from './agent-service.ts'
import { isFormerMember } from './former-member.ts'
import { judge } from './membership.ts'
import { Upkeep, type Link, type UpkeepParts } from './upkeep.ts'

const log = logger('nodes')

/** The most that a node says about its engine and its processor. */
const MAX_FACT_CHARACTERS = 64
/** How often the figures of a node are recorded. */
const FIGURES_MS = 30_000

/** A reason alone is not recorded more often than this: a node may answer something else each time. */
const REASON_MS = 5_000

/** What the watch needs of the rest. */
interface Parts extends UpkeepParts {
  agents: UpkeepParts['agents'] & Pick<AgentServices, 'fault'>
  /** Does not throw. */
  nodesChanged: () => Promise<void>
}

/** Follows how the other nodes are, and records and tells it. */
export class Watch {
  readonly #parts: Parts
  readonly #upkeep: Upkeep
  /** When the status or reason of each node was last recorded. */
  readonly #movedAt = new Map<string, number>()

  constructor(parts: Parts) {
    this.#parts = parts
    this.#upkeep = new Upkeep(parts)
  }

  /**
   * Records where the members of the swarm are, and those that are new, by Swarm's id as entries. Returns whether there were
   * any new ones.
   */
  adopt(
    members: readonly SwarmNode[],
    own: NodeRow,
    isForEntry: (swarmId: string) => boolean = () => false,
  ): boolean {
    const present = members.filter(
      ({ id, state, address }) =>
        id !== own.swarm_id && state === 'ready' && address !== '' && !isFormerMember(id),
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
        is_entry: Number(isForEntry(member.id)),
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
    member: SwarmNode | undefined | null,
    { tunnel, engine }: Link,
    signal: AbortSignal,
  ): Promise<void> {
    // What was known before a restart of the server holds until more is.
    if (!tunnel.isKnown) return
    const isJoining = row.joined_at === null
    const agent = this.#upkeep.agent(row, { tunnel, engine }, signal)
    const isSilent = tunnel.fault !== null
    const agentFault = agent?.fault ?? (isJoining && isSilent ? await this.#parts.agents.fault(row.id) : null)
    const networkFaults = isJoining && !isSilent ? (this.#upkeep.network(row) ?? null) : null
    if (isSilent) this.#upkeep.forgetRules(row.id)
    const rules = !isSilent && agent?.fault === null ? this.#upkeep.rules(row, engine) : undefined
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
    this.#upkeep.forget(nodeId)
    this.#movedAt.delete(nodeId)
    setReported(keyOf(nodeId), null)
  }

  #isReasonDue(nodeId: string): boolean {
    return Date.now() - (this.#movedAt.get(nodeId) ?? 0) > REASON_MS
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
