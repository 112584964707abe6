import { placementOf } from '../nodes/placement-setting.ts'
import { getNodeByIdOrName } from '../nodes/store.ts'
import type { Faults } from './faults.ts'
import { keptNode } from './kept-nodes.ts'
import { placeIn } from './nodes.ts'
import type { Project, WantedDatastore, WantedService } from './project.ts'
import type { Standing } from './standing.ts'

/** Finds nodes that a project names and the server does not have. What has its data somewhere stays there, whatever is named. */
export function checkNodes({ datastores, services }: Project, standing: Standing, faults: Faults): void {
  for (const datastore of datastores)
    if (!standing.datastore(datastore.environment, datastore.name)) checkNode(datastore, faults)
  for (const service of services) {
    const there = standing.service(service.environment, service.name)
    if (keptNode(there) === null) checkNode(service, faults)
    // The nodes of a placement may be gone.
    checkPlacement(service, new Set(there && placementOf(there)?.nodes), faults)
  }
}

function checkNode({ fields, node }: WantedDatastore | WantedService, faults: Faults): void {
  if (typeof fields.node === 'string' && !getNodeByIdOrName(fields.node))
    faults.add(placeIn(node, ['node']), missing(fields.node))
}

function checkPlacement({ fields, node }: WantedService, kept: ReadonlySet<string>, faults: Faults): void {
  const { nodes } = (fields.placement ?? {}) as { nodes?: unknown }
  if (!Array.isArray(nodes)) return
  for (const [at, each] of nodes.entries())
    if (typeof each === 'string' && !kept.has(each) && !getNodeByIdOrName(each))
      faults.add(placeIn(node, ['placement', 'nodes', at]), missing(each))
}

function missing(idOrName: string): string {
  return `there is no node ${idOrName}`
}
