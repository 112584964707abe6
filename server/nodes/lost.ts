import { getNode } from './store.ts'

/** Why something whose data is on a node cannot be had, and what to do; null unless the node is lost. */
export function lostNodeFault(nodeId: string): string | null {
  const node = getNode(nodeId)
  if (node && node.status !== 'down') return null
  const state = node ? `${node.name} is down` : `${nodeId} was removed`
  const back = node ? 'wait until it is back, or ' : ''
  return `its data is on a node that is lost: ${state}: ${back}move it to another node with from_backup, which restores its newest backup`
}
