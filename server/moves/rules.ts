import { AppError } from '../errors.ts'
import { assertTakesNew } from '../nodes/data-node.ts'
import { isUp } from '../nodes/states.ts'
import { findNode, getNode, type NodeRow } from '../nodes/store.ts'
import type { MoveInput } from './schema.ts'
import { runningMove } from './store.ts'

/** Something with its data on a node, as refusals name it. */
interface Movable {
  id: string
  title: string
  nodeId: string
}

/**
 * The node that something may move to now. Throws `not_found`, or `conflict` if it is there already, is being moved, the node
 * takes nothing new, or its data is not where the request supposes.
 */
export function targetOf({ id, title, nodeId }: Movable, { node, from_backup }: MoveInput): NodeRow {
  const target = findNode(node)
  if (target.id === nodeId) throw new AppError('conflict', `${title} is on the node ${target.name} already`)
  if (runningMove(id))
    throw new AppError('conflict', `${title} is being moved: wait until that has finished, or cancel it`)
  assertTakesNew(target)
  const fault = from_backup ? faultOfBackup(nodeId) : faultOfCopy(nodeId)
  if (fault !== null) throw new AppError('conflict', `${title} ${fault}`)
  return target
}

function faultOfCopy(nodeId: string): string | null {
  const node = getNode(nodeId)
  if (!node)
    return 'is on a node that was removed: move it with from_backup, which restores its newest backup'
  if (isUp(node)) return null
  return `is on the node ${node.name}, which is ${node.status}: wait until it is back, or move it with from_backup, which restores its newest backup`
}

/** A node that answers has newer data than any backup. */
function faultOfBackup(nodeId: string): string | null {
  const node = getNode(nodeId)
  return node && isUp(node)
    ? `is on the node ${node.name}, which answers: move it without from_backup, which keeps what was written since its newest backup`
    : null
}
