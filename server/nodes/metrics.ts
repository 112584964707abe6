import { timestamp } from '../clock.ts'
import { useContext, useDatabase } from '../context.ts'
import { freshAt, freshLatest } from '../metrics/latest.ts'
import { viewContainers } from '../metrics/views.ts'
import { carriedBy } from './carried.ts'
import { machinesIfAny, useMachines, type Machines } from './machines.ts'
import type { HostFigures, NodeMetrics } from './schema.ts'
import { isUp } from './states.ts'
import { listNodes, type NodeRow } from './store.ts'

/** What a node and the containers on it are doing, as it was last measured. Throws `conflict` before the server is at work. */
export function nodeMetrics(node: NodeRow): NodeMetrics {
  const here = containersOn(node.id)
  const containers = freshLatest()?.reading?.containers ?? []
  return {
    at: timestamp(Math.round(freshAt() ?? Date.now())),
    host: figuresOf(node, useMachines()),
    containers: viewContainers(containers.filter((each) => here.has(each.container) || here.has(each.id))),
  }
}

/** A node as Prometheus is told of it. */
export interface NodeStanding {
  id: string
  name: string
  isUp: boolean
  /** Null while the node does not answer. */
  host: HostFigures | null
  instances: number
}

/** All nodes but those that have not joined yet. */
export function nodeStandings(): NodeStanding[] {
  const machines = machinesIfAny()
  return listNodes()
    .filter(({ joined_at }) => joined_at !== null)
    .map((node) => ({
      ...{ id: node.id, name: node.name, isUp: isUp(node) },
      host: figuresOf(node, machines),
      instances: carriedBy(node.id).instances,
    }))
}

function figuresOf({ id, is_own }: NodeRow, machines: Machines | undefined): HostFigures | null {
  return is_own === 1 ? ownFigures() : (machines?.hostFigures(id) ?? null)
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
