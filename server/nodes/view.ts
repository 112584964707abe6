import { timestamp } from '../clock.ts'
import { runningOn } from '../jobs/store.ts'
import { carriedBy, type Carried } from './carried.ts'
import { ownFigures } from './metrics.ts'
import { isEntry } from './entries.ts'
import { isManager, managerFaults, managerStateOf } from './managers.ts'
import { entryFault } from './entry-faults.ts'
import type { Labels, Node } from './schema.ts'
import { statusOf } from './states.ts'
import { stuckOn } from './stuck.ts'
import type { NodeRow } from './store.ts'

/** A reason names no more runs than these. */
const MAX_RUNS_NAMED = 5

/** A node as the API returns it. */
export function viewNode(row: NodeRow): Node {
  const carried = carriedBy(row.id)
  const isOwn = row.is_own === 1
  return {
    id: row.id,
    name: row.name,
    status: statusOf(row, carried),
    reason:
      [row.reason, entryFault(row.id), ...ofManager(row), ...whatKeeps(row, carried)]
        .filter((reason) => reason !== null)
        .join('; ') || null,
    progress: progressOf(row, carried),
    availability: row.availability,
    roles: [
      ...(isOwn ? (['server'] as const) : []),
      ...(isManager(row) ? (['manager'] as const) : []),
      ...(isEntry(row) ? (['entry'] as const) : []),
    ],
    manager: managerStateOf(row),
    address: row.address,
    public_address: row.public_address,
    labels: JSON.parse(row.labels) as Labels,
    engine_version: row.engine_version,
    architecture: row.architecture,
    cpus: row.cpus,
    memory_bytes: row.memory_bytes,
    disk_free_bytes: isOwn ? ownFreeBytes() : row.disk_free_bytes,
    instances: carried.instances,
    bound: carried.bound,
    last_seen_at: timestamp(isOwn ? Date.now() : row.last_seen_at),
    created_at: timestamp(row.created_at),
  }
}

function ofManager({ id }: NodeRow): string[] {
  return managerFaults()
    .filter(({ nodeId }) => nodeId === id)
    .map(({ message }) => message)
}

/** How far a drain is. Instances that began to stop there after it are not counted as undone work. */
function progressOf({ drain_total }: NodeRow, { movable }: Carried): Node['progress'] {
  return drain_total === null ? null : { done: Math.max(0, drain_total - movable), total: drain_total }
}

/** What keeps a drain: what has no place elsewhere, data, which only a move takes there, and runs, which end. */
function whatKeeps({ id, availability }: NodeRow, { bound, jobs }: Carried): string[] {
  if (availability === 'active') return []
  return [
    ...stuckOn(id),
    ...whatIsBound(bound),
    ...(jobs === 0 ? [] : [`${runsOn(id, jobs)}: runs here until it ends or is canceled`]),
  ]
}

function whatIsBound(bound: Carried['bound']): string[] {
  if (bound.length === 0) return []
  const names = bound.map(({ kind, name }) => `${kind} ${name}`).join(', ')
  return bound.length === 1
    ? [`${names}: has its data here and stays until it is moved`]
    : [`${names}: have their data here and stay until they are moved`]
}

function runsOn(nodeId: string, count: number): string {
  const named = runningOn(nodeId, MAX_RUNS_NAMED).map(({ id, service }) => `job ${id} of ${service}`)
  return [...named, ...(count > named.length ? [`${count - named.length} others`] : [])].join(', ')
}

function ownFreeBytes(): number | null {
  const { disk_total_bytes: total = null, disk_used_bytes: used = null } = ownFigures() ?? {}
  return total === null || used === null ? null : total - used
}
