import { useContext, useDatabase } from '../context.ts'
import { reservedMb, type Candidate } from './placement.ts'
import { listNodes } from './store.ts'

interface Held {
  node_id: string
  /** Null for a datastore. */
  deploy_id: string | null
  memory_limit_mb: number
}

/** All nodes with what is on them, for a new instance of a deploy. */
export function candidatesFor(deployId: string): Candidate[] {
  const usual = useContext().options.defaultMemoryMb
  const held = useDatabase().all<Held>(
    `SELECT instances.node_id, deploy_id, memory_limit_mb FROM instances JOIN services ON services.id = service_id
     UNION ALL SELECT node_id, NULL, memory_limit_mb FROM datastores`,
  )
  const byNode = Map.groupBy(held, ({ node_id }) => node_id)
  return listNodes().map((node) => {
    const there = byNode.get(node.id) ?? []
    const instances = there.filter(({ deploy_id }) => deploy_id !== null)
    return {
      node,
      ofDeploy: instances.filter(({ deploy_id }) => deploy_id === deployId).length,
      instances: instances.length,
      reservedMb: there.reduce((sum, { memory_limit_mb }) => sum + reservedMb(memory_limit_mb || usual), 0),
    }
  })
}
