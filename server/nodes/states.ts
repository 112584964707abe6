import type { Carried } from './carried.ts'
import type { NodeRow } from './store.ts'

export const NODE_STATUSES = ['joining', 'ready', 'draining', 'drained', 'unreachable', 'down'] as const
export type NodeStatus = (typeof NODE_STATUSES)[number]

type Known = Pick<NodeRow, 'status' | 'availability'>

/** The status of a node as the API has it: one that is ready and drained is told by what is left on it. */
export function statusOf({ status, availability }: Known, carried: Carried): NodeStatus {
  if (status !== 'ready' || availability === 'active') return status
  return isEmpty(carried) ? 'drained' : 'draining'
}

/** Whether a node answers, as far as that is recorded. The own one does. */
export function isUp({ is_own, status }: Pick<NodeRow, 'is_own' | 'status'>): boolean {
  return is_own === 1 || status === 'ready'
}

/** Whether a node takes something new. */
export function takesNew({ status, availability }: Known): boolean {
  return status === 'ready' && availability === 'active'
}

/** Whether nothing is left on a node. */
export function isEmpty({ instances, jobs, bound }: Carried): boolean {
  return instances + jobs + bound.length === 0
}
