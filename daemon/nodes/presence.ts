import { AppError } from '#server/errors.ts'
import { getNode, nodeName, type NodeRow } from '#server/nodes/store.ts'
import type { Engine } from '../engine/index.ts'

/** What knows the way to nodes. */
export interface Ways {
  /** Throws `runtime_error` while there is none. */
  engineOf(nodeId: string): Engine
}

/** An engine that takes longer for a small answer counts as one that does not answer. */
const ANSWER_MS = 10_000

/** Whether what is on a node is lost: the node is down, or no longer one of this server. */
export function isLost(nodeId: string): boolean {
  return isLostNode(getNode(nodeId))
}

export function isLostNode(node: Pick<NodeRow, 'is_own' | 'status'> | undefined): boolean {
  return !node || (node.is_own !== 1 && node.status === 'down')
}

/**
 * Whether the engine of a node can be asked. If not, what is there may run on, unless it is lost. The own one always can: who
 * asks it learns it if it is away.
 */
export function answers({ machines }: { machines: Ways }, nodeId: string): boolean {
  const node = getNode(nodeId)
  return node !== undefined && isAnswering(machines, node)
}

export function isAnswering(
  machines: Ways,
  { id, is_own, status }: Pick<NodeRow, 'id' | 'is_own' | 'status'>,
): boolean {
  return is_own === 1 || (status === 'ready' && isConnected(machines, id))
}

/** Whether there is a way to a node: its record is older than that after a start of the server. */
function isConnected(machines: Ways, nodeId: string): boolean {
  try {
    machines.engineOf(nodeId)
    return true
  } catch {
    return false
  }
}

/** The engine of a node, to remove something there; null if the node was removed, and what was on it with it. */
export function engineIfAny(ways: Ways, nodeId: string): Engine | null {
  return getNode(nodeId) ? ways.engineOf(nodeId) : null
}

/** What a node is called in messages. */
export function nameOfNode(nodeId: string): string {
  return nodeName(nodeId) ?? nodeId
}

/**
 * What the engine of a node answers, but not late, so that one that hangs does not hold up what concerns the others; the own
 * engine's answer is waited for. Throws `runtime_error`.
 */
export async function answerOf<T>(nodeId: string, answer: Promise<T>, withinMs = ANSWER_MS): Promise<T> {
  const node = getNode(nodeId)
  if (node?.is_own === 1) return answer
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new AppError('runtime_error', silence(nodeId, withinMs))), withinMs)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}

function silence(nodeId: string, withinMs: number): string {
  return `the engine of the node ${nameOfNode(nodeId)} did not answer within ${withinMs / 1_000} s`
}
