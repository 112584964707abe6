import { AppError, messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { assertRemovable, forgetNode } from '#server/nodes/operations.ts'
import { findNode, updateNode, type NodeRow } from '#server/nodes/store.ts'
import type { Slots } from '#server/work/slots.ts'
import type { Engine } from '../engine/index.ts'
import type { Swarm } from '../engine/swarm.ts'
import type { AgentServices } from './agent-service.ts'
import { leaveSwarm, removeSpareVolumes } from './leaving.ts'
import type { Links } from './links.ts'
import { unguardMetadataOn } from './metadata.ts'
import { ownNode } from './own-swarm.ts'
import type { Watch } from './watch.ts'

const log = logger('nodes')

/** What a departure needs of the rest. */
interface Parts {
  swarm: Swarm
  agents: AgentServices
  links: Links
  watch: Watch
  /** In which nodes are changed. */
  turn: Slots
  engineOf: (nodeId: string) => Engine
  /** Ends the node's entry, if it is one. Throws `runtime_error`. */
  endEntry: (nodeId: string) => Promise<void>
  /** Called in the turn, once the node's record is gone. */
  onGone: () => Promise<void>
}

/** Removes nodes. */
export class Departures {
  readonly #parts: Parts
  readonly #leaving = new Set<string>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Whether a node is being removed: the watch does not tell its end. */
  has(nodeId: string): boolean {
    return this.#leaving.has(nodeId)
  }

  /** Makes a node leave and deletes its record; of a lost one, and one that still joins, only the record. Throws `conflict` and `runtime_error`. */
  async remove(nodeId: string, lost: boolean): Promise<void> {
    const { turn, engineOf, swarm, agents, endEntry } = this.#parts
    const row = await turn.run(async () => this.#begin(nodeId, lost))
    try {
      if (!lost && row.status !== 'joining') {
        const engine = engineOf(nodeId)
        await endEntry(nodeId)
        await removeSpareVolumes(nodeId, engine)
        await unguardMetadataOn(engine, await agents.image()).catch((error: unknown) =>
          // They concern networks that go with the swarm.
          log.warn('rules are left on a node that leaves', { node: row.name, error: messageOf(error) }),
        )
        await leaveSwarm(engine, swarm, row)
      }
      await turn.run(() => this.#forget(row))
    } finally {
      this.#leaving.delete(nodeId)
    }
  }

  /** From here on nothing is placed on the node. */
  #begin(nodeId: string, lost: boolean): NodeRow {
    const row = findNode(nodeId)
    if (this.has(nodeId)) throw new AppError('conflict', `${row.name} is being removed already`)
    assertRemovable(row, lost)
    this.#leaving.add(nodeId)
    if (!lost) updateNode(nodeId, { status: 'unreachable', reason: 'it is leaving' })
    return row
  }

  async #forget({ id, swarm_id }: NodeRow): Promise<void> {
    const { swarm, agents, links, watch, onGone } = this.#parts
    if (ownNode().swarm_id !== null) {
      if (swarm_id !== null) await swarm.removeNode(swarm_id)
      await agents.remove(id)
    }
    links.drop(id)
    watch.forget(id)
    forgetNode(id)
    await onGone()
  }
}
