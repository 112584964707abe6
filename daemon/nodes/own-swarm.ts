import { useDatabase } from '#server/context.ts'
import { readSetting, removeSetting, writeSetting } from '#server/database/settings.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { getNode, listNodes, ownNodeId, updateNode, type NodeRow } from '#server/nodes/store.ts'
import { isRestoring } from '#server/restore/waiting.ts'
import type { SwarmNode } from '../engine/index.ts'
import type { SwarmInfo } from '../engine/swarm-info.ts'
import type { Swarm } from '../engine/swarm.ts'
import { assertComesBack, assertNoneRemains, takeOver } from './taking-over.ts'

/** The id of the swarm itself, by which a server knows it again from another machine. */
const SWARM_KEY = 'swarm_id'

/** The swarm does not answer: too many of its managers are away, or the engine has just begun. */
export interface Silence {
  silence: string
}

export type Membership = SwarmNode[] | Silence | 'expelled' | null

type Calls = Pick<Swarm, 'info' | 'init' | 'leave' | 'nodes'>

/** The swarm that this server began, of which its own engine is a manager. */
export class OwnSwarm {
  readonly #swarm: Calls
  /** Whether the own engine was seen to be the recorded member of it. */
  #isSure = false

  constructor(swarm: Calls) {
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
   * Its members; null without one. `expelled` when the own engine is in none any more, or in another one; it is forgotten then.
   * When the server was restored on a machine whose engine has joined it as a manager, the place of the former one is taken
   * over. Throws `runtime_error`, and `conflict` when that is not possible.
   */
  async members(): Promise<Membership> {
    await this.#finishBegin()
    const { swarm_id } = ownNode()
    if (swarm_id === null) return null
    const found = await this.#swarm.nodes().catch((error: unknown) => error as Error)
    if (found instanceof Error) return this.#withoutAnswer(await this.#swarm.info(), found)
    const own = found.find(({ id }) => id === swarm_id)
    if (this.#isSure && own?.state === 'ready') return found
    return this.#recognise(await this.#swarm.info(), found)
  }

  /** What the engine is in, which lists members. */
  #recognise(info: SwarmInfo, members: SwarmNode[]): Membership {
    const { id, swarm_id } = ownNode()
    if (info.nodeId === swarm_id && members.some((member) => member.id === swarm_id)) {
      this.#isSure = true
      if (info.swarmId !== null) writeSetting(useDatabase(), SWARM_KEY, info.swarmId)
      return members
    }
    const known = readSetting(useDatabase(), SWARM_KEY)
    if (known !== undefined && info.swarmId === null)
      throw new AppError('runtime_error', 'the engine does not say of which swarm it is')
    if (known === undefined || known !== info.swarmId) return this.#expel(id)
    takeOver(info.nodeId!, members)
    this.#isSure = true
    return members
  }

  /** What the engine is in, which lists no members because of `error`. */
  #withoutAnswer(info: SwarmInfo, error: Error): Membership {
    const { id, swarm_id } = ownNode()
    const isOwn = info.nodeId === swarm_id
    if (info.state === 'inactive') return this.#expel(id)
    if (isOwn && info.state === 'active' && !info.isManager)
      throw new AppError(
        'runtime_error',
        "the server's engine is no longer a manager of the swarm: run docker node promote for it on a machine that is one",
      )
    if (isOwn && info.isManager) return { silence: messageOf(error) }
    if (info.state !== 'active') throw error
    assertComesBack(info)
    // A manager that has no leader does not say of which swarm it is.
    if (info.isManager && info.swarmId === null) throw error
    return this.#expel(id)
  }

  /** Forgets it, unless a restore waits for the engine to join it. */
  #expel(id: string): 'expelled' {
    if (isRestoring()) assertNoneRemains()
    this.#forget(id)
    return 'expelled'
  }

  #forget(id: string): void {
    this.#isSure = false
    useDatabase().transaction(() => {
      removeSetting(useDatabase(), SWARM_KEY)
      updateNode(id, { swarm_id: null, address: null })
      // The others cannot be managers with it any more, and are removed as lost.
      for (const node of listNodes()) updateNode(node.id, { is_manager: 0, manager_state: null })
    })
  }

  /** Leaves it, which ends it. Does nothing in another one. Throws `runtime_error`. */
  async leave(): Promise<void> {
    const { id, swarm_id } = ownNode()
    if (swarm_id !== null && (await this.#swarm.info()).nodeId === swarm_id) await this.#swarm.leave()
    this.#forget(id)
  }
}

/** The row of the server's own node. */
export function ownNode(): NodeRow {
  return getNode(ownNodeId())!
}
