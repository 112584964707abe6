import { useDatabase } from '../context.ts'
import type { Database, Value } from '../database/index.ts'
import { AppError } from '../errors.ts'
import type { ManagerState } from './manager-states.ts'

/** A row of `nodes`: a machine with an engine. Times are milliseconds, booleans 0 or 1. */
export interface NodeRow {
  id: string
  name: string
  /** Whether it is the machine of the server itself. */
  is_own: number
  /** Swarm's id of it; null on a server of one node. */
  swarm_id: string | null
  /** Where the other nodes reach it; null on a server of one node. */
  address: string | null
  /** JSON: texts by label. */
  labels: string
  /** What the server knows of it. `draining` and `drained` are derived: see `statusOf`. */
  status: 'joining' | 'ready' | 'unreachable' | 'down'
  /** Why it is not ready, or what is not as it should be although it is. */
  reason: string | null
  availability: 'active' | 'drain'
  /** How many instances a drain found; null without one. */
  drain_total: number | null
  engine_version: string | null
  architecture: string | null
  cpus: number | null
  memory_bytes: number | null
  disk_free_bytes: number | null
  last_seen_at: number | null
  /** When it first was ready; null while it joins, also if it goes down meanwhile. */
  joined_at: number | null
  created_at: number
  /** Whether it is to serve requests; the own one does without. See `isEntry`. */
  is_entry: number
  /** Whether a data plane may be there, also when the node is not to serve any more. */
  has_data_plane: number
  /** What DNS names in place of `address`. */
  public_address: string | null
  /** Whether it is to be a manager; the own one is without. See `isManager`. */
  is_manager: number
  /** What the swarm last said of it as a manager; null for a worker. */
  manager_state: ManagerState | null
}

type Defaulted = 'is_entry' | 'has_data_plane' | 'public_address' | 'is_manager' | 'manager_state'

/** All nodes: the server's own, then by name. */
export function listNodes(): NodeRow[] {
  return useDatabase().all<NodeRow>('SELECT * FROM nodes ORDER BY is_own DESC, name')
}

export function getNode(id: string): NodeRow | undefined {
  return useDatabase().get<NodeRow>('SELECT * FROM nodes WHERE id = ?', id)
}

/** The node with this id or name; names are compared without case. */
export function getNodeByIdOrName(idOrName: string): NodeRow | undefined {
  return useDatabase().get<NodeRow>(
    'SELECT * FROM nodes WHERE id = ?1 OR name = ?1 ORDER BY id = ?1 DESC',
    idOrName,
  )
}

/** The name of a node; null without one, and for one that is gone. */
export function nodeName(id: string | null): string | null {
  return id === null ? null : (getNode(id)?.name ?? null)
}

/** The node with this id or name. Throws `not_found`. */
export function findNode(idOrName: string): NodeRow {
  const node = getNodeByIdOrName(idOrName)
  if (!node) throw new AppError('not_found', `there is no node ${idOrName}`)
  return node
}

export function getNodeBySwarmId(swarmId: string): NodeRow | undefined {
  return useDatabase().get<NodeRow>('SELECT * FROM nodes WHERE swarm_id = ?', swarmId)
}

/** The id of the server's own node in a database. */
export function ownNodeOf(database: Database): string {
  return database.get<{ id: string }>('SELECT id FROM nodes WHERE is_own = 1')!.id
}

/** The id of the server's own node. */
export function ownNodeId(): string {
  return ownNodeOf(useDatabase())
}

/** Whether the server of a database has other nodes than its own. */
export function hasOtherNodesIn(database: Database): boolean {
  return database.get('SELECT 1 FROM nodes WHERE is_own = 0') !== undefined
}

/** The names of the managers that the server of a database has besides its own node. */
export function otherManagersIn(database: Database): string[] {
  return database
    .all<{ name: string }>('SELECT name FROM nodes WHERE is_own = 0 AND is_manager = 1 ORDER BY name')
    .map(({ name }) => name)
}

/** Whether the server has other nodes than its own. */
export function hasOtherNodes(): boolean {
  return hasOtherNodesIn(useDatabase())
}

export function insertNode(row: Omit<NodeRow, Defaulted> & Partial<Pick<NodeRow, Defaulted>>): void {
  const columns = Object.keys(row)
  useDatabase().run(
    `INSERT INTO nodes (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    ...(Object.values(row) as Value[]),
  )
}

export function updateNode(id: string, columns: Partial<Omit<NodeRow, 'id' | 'is_own'>>): void {
  const assignments = Object.keys(columns).map((column) => `${column} = ?`)
  useDatabase().run(
    `UPDATE nodes SET ${assignments.join(', ')} WHERE id = ?`,
    ...(Object.values(columns) as Value[]),
    id,
  )
}

/** Deletes the record of a node, with what is recorded of its engine. */
export function deleteNode(id: string): void {
  useDatabase().run('DELETE FROM nodes WHERE id = ?', id)
}
