import { isBound } from '../nodes/carried.ts'
import { getNodeByIdOrName, nodeName } from '../nodes/store.ts'
import type { ServiceRow } from '../services/store.ts'
import { placeIn } from './nodes.ts'
import type { WantedDatastore, WantedService } from './project.ts'

/** The node that a service's data is on, which only a move changes; null while it has none. */
export function keptNode(there: ServiceRow | undefined): string | null {
  return there && isBound(there.id) ? there.node_id : null
}

/** A note on data that stays where it is, although a file names another node, which may be gone. */
export function otherNode(
  kind: 'service' | 'datastore',
  { name, node, fields }: WantedService | WantedDatastore,
  kept: string | null,
): string[] {
  const wanted = fields.node
  if (kept === null || typeof wanted !== 'string' || wanted === kept) return []
  if (getNodeByIdOrName(wanted)?.id === kept) return []
  const { line } = placeIn(node, ['node'])
  return [`line ${line}: ${kind} ${name} stays on the node ${nodeName(kept) ?? kept}: move it separately`]
}
