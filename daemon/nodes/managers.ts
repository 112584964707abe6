import { announceNode } from '#server/changes.ts'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { getNodeBySwarmId, listNodes, updateNode, type NodeRow } from '#server/nodes/store.ts'
import type { SwarmNode } from '../engine/index.ts'
import type { Swarm } from '../engine/swarm.ts'
import { ownNode } from './own-swarm.ts'
import { isFormerMember, removeFormerMember } from './taking-over.ts'

const log = logger('nodes')

/** While another manager takes the lead, which takes 10 to 15 s, the swarm does not answer either. */
const SILENT_MS = 30_000

/** What to do next so that the managers are those that are wanted. */
export interface ManagerSteps {
  promote: SwarmNode[]
  demote: SwarmNode[]
}

/**
 * What brings the managers closer to those that are wanted besides the own node, by Swarm's ids: the new ones first, all at
 * once, and the former ones only when these are there, so that there never are two for longer than that takes.
 */
export function managerSteps(
  members: readonly SwarmNode[],
  wanted: ReadonlySet<string>,
  ownId: string,
): ManagerSteps {
  const others = members.filter(({ id }) => id !== ownId)
  const promote = others.filter(
    ({ id, state, isManager }) => wanted.has(id) && !isManager && state === 'ready',
  )
  const isThere = (id: string) =>
    others.some((member) => member.id === id && member.isManager && isReachable(member))
  const demote = [...wanted].every(isThere)
    ? others.filter(({ id, isManager }) => isManager && !wanted.has(id))
    : []
  return { promote, demote }
}

function isReachable({ managerState }: SwarmNode): boolean {
  return managerState === 'leader' || managerState === 'reachable'
}

/** Has the swarm's managers be those that are wanted, and records what they are. */
export class Managers {
  readonly #swarm: Swarm
  #lastFault: string | null = null
  /** Since when the swarm does not answer, on the monotonic clock. */
  #silentSince: number | null = null

  constructor(swarm: Swarm) {
    this.#swarm = swarm
  }

  /** Takes a step, if there is one. Does not throw. */
  async settle(members: readonly SwarmNode[]): Promise<void> {
    this.#silentSince = null
    for (const row of listNodes())
      record(row, members.find(({ id }) => id === row.swarm_id)?.managerState ?? null)
    try {
      await this.#step(members)
      this.#lastFault = null
    } catch (error) {
      // Such as while another one becomes a manager: the next look tries again.
      const fault = messageOf(error)
      if (fault !== this.#lastFault) log.warn('the managers could not be changed yet', { error: fault })
      this.#lastFault = fault
    }
  }

  async #step(members: readonly SwarmNode[]): Promise<void> {
    const wanted = listNodes().filter(({ is_manager, swarm_id }) => is_manager === 1 && swarm_id !== null)
    const ids = new Set(wanted.map(({ swarm_id }) => swarm_id!))
    // The machine from which the server moved leaves by itself below.
    const present = members.filter(({ id }) => !isFormerMember(id))
    const { promote, demote } = managerSteps(present, ids, ownNode().swarm_id!)
    for (const member of promote) await this.#set(member, true)
    for (const member of demote) await this.#set(member, false)
    await removeFormerMember(this.#swarm, members)
  }

  async #set({ id, hostName }: SwarmNode, isManager: boolean): Promise<void> {
    if (!(await this.#swarm.setManager(id, isManager))) return
    const node = getNodeBySwarmId(id)?.name ?? hostName
    log.info(isManager ? 'a node becomes a manager' : 'a manager becomes a worker', { node })
  }

  /** Records that the swarm does not answer, once that is not the moment in which another manager takes the lead. */
  noteSilence(reason: string): void {
    const now = performance.now()
    this.#silentSince ??= now
    if (now - this.#silentSince < SILENT_MS || ownNode().manager_state === 'unreachable') return
    log.warn('the swarm does not answer', { error: reason })
    record(ownNode(), 'unreachable')
  }
}

function record({ id, manager_state }: NodeRow, state: NodeRow['manager_state']): void {
  if (manager_state === state) return
  updateNode(id, { manager_state: state })
  announceNode(id)
}
