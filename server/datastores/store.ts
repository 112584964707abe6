import { useDatabase } from '../context.ts'
import type { Value } from '../database/index.ts'
import type { DatastoreKind } from './kinds.ts'
import type { DatastoreStatus } from './states.ts'

/** A row of `datastores`. Times are milliseconds. */
export interface DatastoreRow {
  id: string
  environment_id: string
  name: string
  kind: DatastoreKind
  /** Of the image; with the version it is the reference. */
  repository: string
  version: string
  /** The image it was made from, which later containers are made from too: a tag may come to mean another. */
  image_id: string | null
  status: DatastoreStatus
  /** Why it is failed or unavailable. */
  error: string | null
  /** Null for a kind without databases of its own choosing. */
  database: string | null
  username: string
  /** Sealed. */
  password: Uint8Array
  /** The engine's volume that holds its data. */
  volume: string
  /** In the environment's network, where its program was started; null until it was. */
  address: string | null
  /** The port of the host's loopback that is published; null until one was chosen. */
  host_port: number | null
  /** The one at which it speaks TLS, which may be the same; null until its program was started with a certificate. */
  host_tls_port: number | null
  memory_limit_mb: number
  cpu_limit: number
  /** When a backup is made by itself: five fields of cron, in UTC. */
  backup_schedule: string | null
  /** How many backups are kept. */
  backup_retention: number
  /** Up to when the runs of the schedule are settled; null while there is none. */
  backup_seen_at: number | null
  /** Raised by every write of desired state. */
  generation: number
  /** The generation that the last reconciling pass saw. */
  observed_generation: number
  /** Why that pass could not make it so; null when it could. */
  apply_error: string | null
  created_at: number
  updated_at: number
}

/** What a new row says; the rest follows from the table's defaults. */
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

/** What a user changes of a datastore. */
export type DatastoreSettings = Pick<
  DatastoreRow,
  'memory_limit_mb' | 'cpu_limit' | 'backup_schedule' | 'backup_retention' | 'backup_seen_at'
>

/** Writes what a user changed; `isForContainer` raises the generation, for the pass that applies it. */
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

/** Records what was found or chosen for it; nobody asked for it, so the generation stays. */
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

/** Records that a reconciling pass saw this generation, and what kept it from making it so. */
export function observeDatastore(id: string, generation: number, error: string | null): void {
  useDatabase().run(
    'UPDATE datastores SET observed_generation = ?, apply_error = ? WHERE id = ?',
    generation,
    error,
    id,
  )
}

/** Gives a datastore another volume and what its program is to be started from; why the last try failed counts no more. */
export function refoundDatastore(
  id: string,
  ground: Pick<DatastoreRow, 'volume' | 'version' | 'image_id'>,
): void {
  useDatabase().run(
    'UPDATE datastores SET volume = ?, version = ?, image_id = ?, error = NULL, updated_at = ? WHERE id = ?',
    ground.volume,
    ground.version,
    ground.image_id,
    Date.now(),
    id,
  )
}

export function deleteDatastoreRow(id: string): void {
  useDatabase().run('DELETE FROM datastores WHERE id = ?', id)
}

/** The names of the datastores in an environment, those on their way out too. */
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
