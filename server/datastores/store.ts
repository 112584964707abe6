import { useDatabase } from '../context.ts'
import type { Value } from '../database/index.ts'
import type { DatastoreKind } from './kinds.ts'
import type { DatastoreStatus } from './states.ts'

/** A row of `datastores`. Times are milliseconds. */
export interface DatastoreRow {
  id: string
  environment_id: string
  /** Where its volume and its container are. */
  node_id: string
  name: string
  kind: DatastoreKind
  /** The image's repository; with the version it is the image reference. */
  repository: string
  version: string
  /** The image it was created from. Later containers are created from it too, since the tag may move to another image. */
  image_id: string | null
  status: DatastoreStatus
  /** Why it failed or is unavailable. */
  error: string | null
  /** Null for a kind whose database has no name. */
  database: string | null
  username: string
  /** Sealed by the vault. */
  password: Uint8Array
  /** The engine's volume that holds its data. */
  volume: string
  /** Its address in the environment's network; null until its program was started. */
  address: string | null
  /** Its published port on the host's loopback; null until one was chosen. */
  host_port: number | null
  /** The port for TLS, which may be the same; null until its program was started with a certificate. */
  host_tls_port: number | null
  memory_limit_mb: number
  cpu_limit: number
  /** When backups are made automatically: five fields of cron, in UTC. */
  backup_schedule: string | null
  /** How many backups are kept. */
  backup_retention: number
  /** The time up to which the schedule has been handled; null before it is set. */
  backup_seen_at: number | null
  /** Raised by every write of desired state. */
  generation: number
  /** The generation that the last reconcile pass saw. */
  observed_generation: number
  /** Why that pass could not apply it; null when it could. */
  apply_error: string | null
  created_at: number
  updated_at: number
}

/** The columns of a new row; the others get the table's defaults. */
export type NewDatastore = Omit<
  DatastoreRow,
  | 'image_id'
  | 'error'
  | 'address'
  | 'host_port'
  | 'host_tls_port'
  | 'generation'
  | 'observed_generation'
  | 'apply_error'
>

/** The datastore with this id, in any environment. */
export function getDatastore(id: string): DatastoreRow | undefined {
  return useDatabase().get<DatastoreRow>('SELECT * FROM datastores WHERE id = ?', id)
}

/** The datastore of this name in an environment. */
export function getDatastoreByName(environmentId: string, name: string): DatastoreRow | undefined {
  return useDatabase().get<DatastoreRow>(
    'SELECT * FROM datastores WHERE environment_id = ? AND name = ?',
    environmentId,
    name,
  )
}

/** The datastores of an environment by name. */
export function listDatastores(environmentId: string): DatastoreRow[] {
  return useDatabase().all<DatastoreRow>(
    'SELECT * FROM datastores WHERE environment_id = ? ORDER BY name',
    environmentId,
  )
}

/** Every datastore of the server. */
export function allDatastores(): DatastoreRow[] {
  return useDatabase().all<DatastoreRow>('SELECT * FROM datastores ORDER BY id')
}

export function insertDatastore(row: NewDatastore): void {
  const columns = Object.keys(row)
  useDatabase().run(
    `INSERT INTO datastores (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    ...(Object.values(row) as Value[]),
  )
}

/** What a user can change about a datastore. */
export type DatastoreSettings = Pick<
  DatastoreRow,
  'memory_limit_mb' | 'cpu_limit' | 'backup_schedule' | 'backup_retention' | 'backup_seen_at'
>

/** Writes what a user changed; `isForContainer` raises the generation, so that the next reconcile pass applies it. */
export function setDatastore(id: string, settings: DatastoreSettings, isForContainer: boolean): void {
  const assignments = Object.keys(settings).map((column) => `${column} = ?`)
  useDatabase().run(
    `UPDATE datastores SET ${assignments.join(', ')}, updated_at = ?, generation = generation + ? WHERE id = ?`,
    ...Object.values(settings),
    Date.now(),
    isForContainer ? 1 : 0,
    id,
  )
}

/** Records what the server found or chose for it. It is not desired state, so the generation stays. */
export function recordDatastore(
  id: string,
  columns: Partial<
    Pick<DatastoreRow, 'image_id' | 'address' | 'host_port' | 'host_tls_port' | 'error' | 'backup_seen_at'>
  >,
): void {
  const assignments = Object.keys(columns).map((column) => `${column} = ?`)
  useDatabase().run(
    `UPDATE datastores SET ${assignments.join(', ')} WHERE id = ?`,
    ...(Object.values(columns) as Value[]),
    id,
  )
}

/** Records that a reconcile pass saw this generation, and why it could not apply it. */
export function observeDatastore(id: string, generation: number, error: string | null): void {
  useDatabase().run(
    'UPDATE datastores SET observed_generation = ?, apply_error = ? WHERE id = ?',
    generation,
    error,
    id,
  )
}

/** Gives a datastore another volume, version, image and node, and clears the error of the last try. */
export function refoundDatastore(
  id: string,
  ground: Pick<DatastoreRow, 'volume' | 'version' | 'image_id' | 'node_id'>,
): void {
  useDatabase().run(
    'UPDATE datastores SET volume = ?, version = ?, image_id = ?, node_id = ?, error = NULL, updated_at = ? WHERE id = ?',
    ground.volume,
    ground.version,
    ground.image_id,
    ground.node_id,
    Date.now(),
    id,
  )
}

export function deleteDatastoreRow(id: string): void {
  useDatabase().run('DELETE FROM datastores WHERE id = ?', id)
}

/** The names of the datastores in an environment, including those that are being deleted. */
export function datastoreNames(environmentId: string): string[] {
  return listDatastores(environmentId).map(({ name }) => name)
}

/** The same for every environment, by its id. */
export function datastoreNamesByEnvironment(): Map<string, string[]> {
  const rows = useDatabase().all<Pick<DatastoreRow, 'environment_id' | 'name'>>(
    'SELECT environment_id, name FROM datastores ORDER BY name',
  )
  const byEnvironment = Map.groupBy(rows, ({ environment_id }) => environment_id)
  return new Map([...byEnvironment].map(([id, stores]) => [id, stores.map(({ name }) => name)]))
}
