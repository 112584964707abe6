import { timestamp } from '../clock.ts'
import { useContext, useDatabase } from '../context.ts'
import { freshAt, freshLatest } from '../metrics/latest.ts'
import { viewContainers } from '../metrics/views.ts'
import { useMachines } from './machines.ts'
import type { HostFigures, NodeMetrics } from './schema.ts'
import type { NodeRow } from './store.ts'

/** What a node and the containers on it are doing, as it was last measured. */
export function nodeMetrics({ id, is_own }: NodeRow): NodeMetrics {
  const here = containersOn(id)
  const containers = freshLatest()?.reading?.containers ?? []
  return {
    at: timestamp(Math.round(freshAt() ?? Date.now())),
    host: is_own === 1 ? ownFigures() : useMachines().hostFigures(id),
    containers: viewContainers(containers.filter((each) => here.has(each.container) || here.has(each.id))),
  }
}

/** What the server's own host uses; null before the first measurement. */
export function ownFigures(): HostFigures | null {
  const reading = freshLatest()?.reading
  if (!reading) return null
  const { cpu_percent, memory_used_bytes, memory_total_bytes } = reading.host
  const { dataDirectory } = useContext().options
  const disk = reading.disks
    .filter(({ mount_point: at }) => `${dataDirectory}/`.startsWith(at.endsWith('/') ? at : `${at}/`))
    .toSorted((left, right) => right.mount_point.length - left.mount_point.length)[0]
  return {
    ...{ cpu_percent, memory_used_bytes, memory_total_bytes },
    disk_used_bytes: disk?.used_bytes ?? null,
    disk_total_bytes: disk?.total_bytes ?? null,
  }
}

/** The names of the instances and the ids of the datastores on a node. */
function containersOn(nodeId: string): ReadonlySet<string> {
  const rows = useDatabase().all<{ id: string }>(
    'SELECT id FROM instances WHERE node_id = ?1 UNION ALL SELECT id FROM datastores WHERE node_id = ?1',
    nodeId,
  )
  return new Set(rows.map(({ id }) => id))
}
