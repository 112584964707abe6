import { AppError } from '../errors.ts'
import type { PlacementInput, PlacementView } from './schema.ts'
import { getNode, getNodeByIdOrName, type NodeRow } from './store.ts'

/** Where the instances of a service may run, as it is kept. */
export interface Placement {
  /** Ids; null for any. */
  nodes: string[] | null
  labels: Record<string, string> | null
  spread: boolean
}

interface Placed {
  /** JSON of Placement; null for anywhere. */
  placement: string | null
}

export function placementOf({ placement }: Placed): Placement | null {
  return placement === null ? null : (JSON.parse(placement) as Placement)
}

/** A placement as the API returns it. A node that is gone is told by its id. */
export function viewPlacement(service: Placed): PlacementView | null {
  const placement = placementOf(service)
  return placement && { ...placement, nodes: placement.nodes?.map((id) => getNode(id)?.name ?? id) ?? null }
}

/**
 * The column for a placement that a request gives; one that asks for nothing is null. It may keep the ids of `current`, whose
 * nodes may be gone. Throws `not_found`.
 */
export function placementColumn(given: PlacementInput | null, current: Placement | null): string | null {
  if (given === null) return null
  const { spread } = given
  const known = new Set(current?.nodes)
  const nodes = given.nodes && [...new Set(given.nodes.map((each) => (known.has(each) ? each : idOf(each))))]
  const labels = given.labels && Object.keys(given.labels).length > 0 ? given.labels : null
  return nodes === null && labels === null && spread ? null : JSON.stringify({ nodes, labels, spread })
}

function idOf(idOrName: string): string {
  const node = getNodeByIdOrName(idOrName)
  if (!node) throw new AppError('not_found', `placement: there is no node ${idOrName}`)
  return node.id
}

/** Whether a placement lets instances run on a node. */
export function allows(placement: Placement | null, { id, labels }: Pick<NodeRow, 'id' | 'labels'>): boolean {
  if (placement === null) return true
  const found = JSON.parse(labels) as Record<string, string>
  const isNamed = placement.nodes?.includes(id) ?? true
  return isNamed && Object.entries(placement.labels ?? {}).every(([label, value]) => found[label] === value)
}
