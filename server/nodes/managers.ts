import { announceNode } from '../changes.ts'
import { useDatabase } from '../context.ts'
import { AppError } from '../errors.ts'
import type { Node } from './schema.ts'
import { getNodeByIdOrName, listNodes, updateNode, type NodeRow } from './store.ts'

/** With three, one may be lost; the server's own node is one of them. */
const SEVERAL = 3

/** Whether a node carries the state of the swarm, as far as that is recorded. */
export function isManager({ is_own, swarm_id, manager_state }: NodeRow): boolean {
  return manager_state !== null || (is_own === 1 && swarm_id !== null)
}

/** What a node is as a manager; `becoming` and `ceasing` while it is not what it is to be. */
export function managerStateOf({ is_own, is_manager, manager_state }: NodeRow): Node['manager'] {
  if (is_own === 1) return manager_state
  if (is_manager === 1) return manager_state ?? 'becoming'
  return manager_state === null ? null : 'ceasing'
}

/**
 * Records which nodes are to be managers besides the server's own: two for three managers, those that `refs` name or else those
 * that are with the ones that have most memory; none for one. Throws `conflict`, and then changes nothing.
 */
export function setManagers(count: number, refs: readonly string[] | undefined): NodeRow[] {
  const chosen = chooseManagers(count, refs)
  useDatabase().transaction(() => {
    for (const { id, is_manager } of listNodes()) {
      const wanted = Number(chosen.some((node) => node.id === id))
      if (is_manager !== wanted) updateNode(id, { is_manager: wanted })
    }
  })
  for (const { id } of listNodes()) announceNode(id)
  return listNodes()
}

/** The names of the nodes that are to be managers, the server's own first. */
export function namesOfManagers(): string[] {
  return listNodes().flatMap(({ name, is_own, is_manager }) => (is_own + is_manager > 0 ? [name] : []))
}

function chooseManagers(count: number, refs: readonly string[] | undefined): NodeRow[] {
  if (count === 2)
    refuse(
      'managers',
      'with two, the loss of either one stops the swarm, which one alone does not: have three',
    )
  if (count !== 1 && count !== SEVERAL) refuse('managers', 'a server has one or three')
  const nodes = listNodes()
  if (nodes.length === 1 && count === SEVERAL)
    refuse('managers', 'three need two other nodes: let machines join first')
  const own = nodes.find(({ is_own }) => is_own === 1)!
  if (own.manager_state === 'unreachable') refuse('managers', `${silence(nodes)}, so that none can change`)
  if (count === SEVERAL) return refs?.length ? named(refs) : withMostMemory(nodes)
  if (refs?.length) refuse('nodes', 'the only manager is the node of the server: name none')
  return []
}

function named(refs: readonly string[]): NodeRow[] {
  const found = refs.map((ref) => {
    const node = getNodeByIdOrName(ref)
    if (!node) return refuse('nodes', `there is no node ${ref}`)
    if (node.is_own === 1)
      return refuse('nodes', `${node.name} is the node of the server, which is a manager anyway: name others`)
    if (node.status !== 'ready')
      return refuse('nodes', `${node.name} is ${node.status}: only a node that is ready can be a manager`)
    return node
  })
  if (new Set(found.map(({ id }) => id)).size !== SEVERAL - 1 || found.length !== SEVERAL - 1)
    refuse('nodes', 'name two nodes, which become managers besides the one of the server')
  return found
}

function withMostMemory(nodes: readonly NodeRow[]): NodeRow[] {
  const able = nodes
    .filter(
      ({ is_own, status, is_manager, availability }) =>
        is_own === 0 && status === 'ready' && (is_manager === 1 || availability === 'active'),
    )
    .toSorted(
      (left, right) =>
        right.is_manager - left.is_manager || (right.memory_bytes ?? 0) - (left.memory_bytes ?? 0),
    )
  if (able.length < SEVERAL - 1)
    refuse(
      'managers',
      `three need two other nodes that are ready and active, and there ${able.length === 1 ? 'is one' : 'is none'}`,
    )
  return able.slice(0, SEVERAL - 1)
}

function refuse(field: string, reason: string): never {
  throw new AppError('conflict', `${field}: ${reason}`)
}

/** Refuses to remove a node that is a manager, or is becoming one. Throws `conflict`. */
export function assertNoManager({ name, is_manager, manager_state }: NodeRow): void {
  if (is_manager === 1)
    throw new AppError(
      'conflict',
      `${name} is a manager: have two others (deployer node managers 3 <name> <name>) or go back to one (deployer node managers 1) first`,
    )
  if (manager_state !== null)
    throw new AppError('conflict', `${name} is still ceasing to be a manager: try again in a few seconds`)
}

/** Something about the managers that is not as it should be. */
export interface ManagerFault {
  /** The node that it is said of. */
  nodeId: string
  message: string
  fix: string
  /** Whether the swarm cannot be changed. */
  isSilent: boolean
}

const REPLACE =
  'Bring it back, or have two others: deployer node managers 3 <name> <name>. With one node less than that, deployer node managers 1 goes back.'
const SOON =
  'It takes seconds. If it stays so, open TCP 2377 between the managers, or have others: deployer node managers 3 <name> <name>.'
const CHOOSE = 'Choose: deployer node managers 3 <name> <name>, or deployer node managers 1.'

/** What is wrong with the managers; empty on a server of one node. */
export function managerFaults(): ManagerFault[] {
  const nodes = listNodes()
  const own = nodes.find(({ is_own }) => is_own === 1)!
  if (own.manager_state === 'unreachable')
    return [
      {
        nodeId: own.id,
        message: `${silence(nodes)}: what runs goes on, but on other nodes nothing starts, and nothing joins or leaves`,
        fix: 'Bring one of them back. If they will not come back, docker swarm init --force-new-cluster on this machine makes it the only manager: see docs/nodes.md.',
        isSilent: true,
      },
    ]
  const wanted = nodes.filter(({ is_manager }) => is_manager === 1)
  if (wanted.length === 1)
    return [{ nodeId: own.id, message: halfWish(nodes, wanted[0]!), fix: CHOOSE, isSilent: false }]
  return nodes.flatMap((node) => {
    const fault = faultOf(node)
    return fault === null ? [] : [{ nodeId: node.id, ...fault, isSilent: false }]
  })
}

/** Of a restored server that knows one of the two other managers: the other one became a node after the backup. */
function halfWish(nodes: readonly NodeRow[], { name }: NodeRow): string {
  const count = nodes.filter(isManager).length
  return `there are ${count === 2 ? 'two' : count} managers, but ${name} alone is to be one besides the node of the server, where two must be or none: none begins or ends until you choose`
}

function faultOf(node: NodeRow): Pick<ManagerFault, 'message' | 'fix'> | null {
  const { is_own, is_manager, manager_state, status } = node
  if (is_own === 1) return null
  if (is_manager === 1 && manager_state === null)
    return status === 'ready'
      ? { message: 'it is becoming a manager', fix: SOON }
      : { message: 'it is to become a manager, and the swarm waits for it', fix: REPLACE }
  if (is_manager === 0 && manager_state !== null)
    return { message: 'it is ceasing to be a manager', fix: SOON }
  if (is_manager === 0 || manager_state !== 'unreachable') return null
  return status === 'ready'
    ? { message: 'the other managers do not reach it: open TCP 2377 between them', fix: REPLACE }
    : { message: 'it is a manager: if another one is lost too, the swarm cannot be changed', fix: REPLACE }
}

/** Why the swarm does not answer, and what runs on; null when it does. */
export function swarmSilence(): string | null {
  return managerFaults().find(({ isSilent }) => isSilent)?.message ?? null
}

/** Says that the swarm does not answer, and which managers are away. */
function silence(nodes: readonly NodeRow[]): string {
  const away = nodes.filter((node) => node.is_own === 0 && isManager(node) && node.status !== 'ready')
  const names = away.map(({ name }) => name).join(' and ')
  return away.length === 0
    ? 'the swarm has no leader now'
    : `the swarm does not answer, since ${names} ${away.length === 1 ? 'is' : 'are'} away and more than half of the managers must be there`
}
