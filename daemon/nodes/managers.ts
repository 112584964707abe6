import { announceNode } from '#server/changes.ts'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { getNodeBySwarmId, listNodes, updateNode, type NodeRow } from '#server/nodes/store.ts'
import type { SwarmNode } from '../engine/index.ts'
import type { Swarm } from '../engine/swarm.ts'
import { isFormerMember, removeFormerMember } from './former-member.ts'
import { ownNode } from './own-swarm.ts'

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
 * once, and the former ones only when these are there, so that there never are two for longer than that takes. None ends while
 * one other alone is wanted, which a restored server may know of: see `managerFaults`.
 */
export function managerSteps(
  members: readonly SwarmNode[],
  wanted: ReadonlySet<string>,
  ownId: string,
): ManagerSteps {
  const others = members.filter(({ id }) => id !== ownId)
  const found = new Map(others.map((member) => [member.id, member]))
  const missing = [...wanted].filter((id) => found.get(id)?.isManager !== true).map((id) => found.get(id))
  // One alone would make two for as long as the other is away.
  const promote = missing.filter((member) => member?.state === 'ready')
  const areThere = [...wanted].every((id) => {
    const member = found.get(id)
    return member?.isManager === true && isReachable(member)
  })
  const demote =
    areThere && wanted.size !== 1 ? others.filter(({ id, isManager }) => isManager && !wanted.has(id)) : []
  return {
    promote: promote.length === missing.length ? promote.filter((member) => member !== undefined) : [],
    // Once only two of three are reachable, the swarm gives up none of these.
    demote: demote.toSorted((left, right) => Number(isReachable(left)) - Number(isReachable(right))),
  }
}

function isReachable({ managerState }: SwarmNode): boolean {
  return managerState === 'leader' || managerState === 'reachable'
}

type Calls = Pick<Swarm, 'setManager' | 'removeNode'>

/** Has the swarm's managers be those that are wanted, and records what they are. */
export class Managers {
  readonly #swarm: Calls
  #lastFault: string | null = null
  /** Since when the swarm does not answer, on the monotonic clock. */
  #silentSince: number | null = null

  constructor(swarm: Calls) {
    this.#swarm = swarm
  }

  /** Takes the steps that there are. Does not throw. */
  async settle(members: readonly SwarmNode[]): Promise<void> {
    this.#silentSince = null
    for (const row of listNodes())
      record(row, members.find(({ id }) => id === row.swarm_id)?.managerState ?? null)
    const faults: string[] = []
    for (const step of this.#steps(members))
      // Such as while another one becomes a manager: the next look tries again.
      await step().catch((error: unknown) => faults.push(messageOf(error)))
    const fault = faults.join('; ') || null
    if (fault !== null && fault !== this.#lastFault)
      log.warn('the managers could not be changed yet', { error: fault })
    this.#lastFault = fault
  }

  /** What to do, each without regard to whether another one fails. */
  #steps(members: readonly SwarmNode[]): (() => Promise<void>)[] {
    const wanted = listNodes().filter(({ is_manager, swarm_id }) => is_manager === 1 && swarm_id !== null)
    const ids = new Set(wanted.map(({ swarm_id }) => swarm_id!))
    // The machine from which the server moved leaves by itself below.
    const present = members.filter(({ id }) => !isFormerMember(id))
    const { promote, demote } = managerSteps(present, ids, ownNode().swarm_id!)
    return [
      ...promote.map((member) => () => this.#set(member, true)),
      ...demote.map((member) => () => this.#set(member, false)),
      () => removeFormerMember(this.#swarm, members),
    ]
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
