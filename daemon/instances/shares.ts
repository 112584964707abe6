import type { InstanceRow } from '#server/instances/store.ts'
import { getNode } from '#server/nodes/store.ts'

/** The instances of a live deploy: those that stay, those that stay until others have replaced them, and the rest. */
export interface Shares {
  kept: InstanceRow[]
  /** On nodes that are being drained. */
  leaving: InstanceRow[]
  surplus: InstanceRow[]
}

/**
 * Divides the instances of a live deploy, of which so many are wanted. On a node that is being drained, as many stay as are not
 * ready elsewhere, unless they have a disk there: those do not leave.
 */
export function divide(instances: readonly InstanceRow[], wanted: number, hasDisks: () => boolean): Shares {
  const mayLeave = ({ node_id }: InstanceRow) => getNode(node_id)?.availability === 'drain' && !hasDisks()
  const staying = instances.filter((instance) => !mayLeave(instance))
  const kept = staying.slice(0, wanted)
  const missing = wanted - kept.filter(({ status }) => status === 'ready').length
  const serving = ({ status }: InstanceRow) => (status === 'ready' ? 0 : 1)
  const others = instances.filter(mayLeave).toSorted((left, right) => serving(left) - serving(right))
  const surplus = [...staying.slice(wanted), ...others.slice(missing)]
  return { kept, leaving: others.slice(0, missing), surplus }
}
