import { insertNode, type NodeRow } from '#server/nodes/store.ts'

/** Records another node, which is ready. */
export function addNode(name: string, columns: Partial<NodeRow> = {}): string {
  const id = `nod-${name}`
  insertNode({
    ...{ id, name, is_own: 0, swarm_id: null, address: null, labels: '{}', status: 'ready', reason: null },
    ...{ availability: 'active', drain_total: null, engine_version: null, architecture: null, cpus: null },
    ...{
      memory_bytes: null,
      disk_free_bytes: null,
      last_seen_at: null,
      joined_at: 0,
      created_at: Date.now(),
    },
    ...columns,
  })
  return id
}
