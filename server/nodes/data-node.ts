import { useContext } from '../context.ts'
import { nodeOfUnrecordedVolume } from '../disks/volume.ts'
import { AppError } from '../errors.ts'
import type { ServiceColumns, ServiceRow } from '../services/store.ts'
import { carriedBy, isBound, promisedMb } from './carried.ts'
import { statusOf, takesNew } from './states.ts'
import { getNodeByIdOrName, listNodes, nodeName, type NodeRow } from './store.ts'

const MIB = 1024 * 1024

/**
 * The node of something whose data stays where it is: the one that a request names, or the one that takes new things and has
 * the most memory which is not promised. Throws `not_found`, and `conflict` for one that takes nothing new.
 */
export function nodeForData(idOrName: string | undefined): NodeRow {
  if (idOrName !== undefined) return assertTakesNew(namedNode(idOrName))
  const able = listNodes().filter(takesNew)
  const best = able.length > 1 ? able.toSorted((left, right) => freeMb(right) - freeMb(left))[0] : able[0]
  if (!best) throw new AppError('conflict', 'no node takes anything new: activate one')
  return best
}

/** Refuses a node that takes nothing new. Throws `conflict`. */
export function assertTakesNew(node: NodeRow): NodeRow {
  if (takesNew(node)) return node
  throw new AppError(
    'conflict',
    `node: ${node.name} is ${statusOf(node, carriedBy(node.id))}: name one that is ready and active`,
  )
}

/**
 * The column for the node of a service's disks, which is chosen with the first one. Throws `invalid_request` without a disk,
 * `not_found`, and `conflict` for another node than that of the disks.
 */
export function nodeColumn(
  idOrName: string | null | undefined,
  { disks = '[]' }: ServiceColumns,
  service: ServiceRow | null,
): ServiceColumns {
  if (disks === '[]') {
    if (typeof idOrName !== 'string') return {}
    throw new AppError('invalid_request', 'node: only a service with a disk has one: set placement instead')
  }
  const current = service && (isBound(service.id) ? service.node_id : nodeOfUnrecordedVolume(service.id))
  if (current === null) return { node_id: nodeForData(idOrName ?? undefined).id }
  // Its own id is right, even if that node is gone.
  if (typeof idOrName === 'string' && idOrName !== current && namedNode(idOrName).id !== current)
    throw new AppError(
      'conflict',
      `node: the disks of service ${service!.name} are on the node ${nodeName(current) ?? current}: move it`,
    )
  return current === service!.node_id ? {} : { node_id: current }
}

/** The node that the field `node` of a request names. Throws `not_found`. */
function namedNode(idOrName: string): NodeRow {
  const node = getNodeByIdOrName(idOrName)
  if (!node) throw new AppError('not_found', `node: there is no node ${idOrName}`)
  return node
}

function freeMb({ id, memory_bytes }: NodeRow): number {
  return (memory_bytes ?? 0) / MIB - promisedMb(id, useContext().options.defaultMemoryMb)
}
