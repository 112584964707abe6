import type { Value } from '../database/index.ts'
import { useDatabase } from '../context.ts'
import { EDGE_FIELDS, type EdgeColumns } from '../edge/columns.ts'
import { recordServiceEvent, listedNames } from '../service-events/store.ts'
import type { OverlapPolicy } from './replacement.ts'
import type { Runtime } from './schema.ts'
import type { ServiceType } from './types.ts'

/** A row of `services`: the desired state. Times are milliseconds, booleans 0 or 1. */
export interface ServiceRow extends EdgeColumns {
  id: string
  environment_id: string
  name: string
  type: ServiceType
  runtime: Runtime
  /** Without credentials. */
  repo_url: string | null
  /** The address with its credentials, sealed; null when it has none. */
  repo_credentials: Uint8Array | null
  branch: string | null
  root_dir: string | null
  dockerfile_path: string | null
  image: string | null
  /** The registry credential that it names. */
  registry_credential_id: string | null
  build_command: string | null
  start_command: string | null
  pre_deploy_command: string | null
  publish_dir: string | null
  health_check_path: string | null
  port: number | null
  /**
   * The value of PORT in the service's whole environment (its groups' variables and its own) when it is a number. Stored so
   * that views need not unseal the variables.
   */
  variable_port: number | null
  schedule: string | null
  /** JSON of Disk[]. */
  disks: string
  /** JSON of Placement; null for any node. */
  placement: string | null
  /** The node of its disks, also of former ones; null if it never had one. */
  node_id: string | null
  /** That of the first disk; null without one. Derived from `disks`, and never written. */
  readonly disk_mount_path: string | null
  /** When backups of its disks are made automatically: five fields of cron, in UTC. */
  disk_backup_schedule: string | null
  /** How many backups of each disk are kept. */
  disk_backup_retention: number
  /** The time up to which that schedule has been handled; null before it is set. */
  disk_backup_seen_at: number | null
  instances: number
  memory_limit_mb: number
  cpu_limit: number
  /** JSON: the Debian packages that language plans install. */
  apt_packages: string
  auto_deploy: number
  suspended: number
  deleting: number
  /** JSON: names in their normal form. */
  custom_domains: string
  canonical_domain: string | null
  compression: number
  /** From SIGTERM to SIGKILL. */
  max_shutdown_delay_seconds: number
  /** From leaving rotation until the remaining requests are cut. */
  drain_seconds: number
  overlap_policy: OverlapPolicy
  /** JSON; null watches all files. */
  watch_paths: string | null
  deploy_hook_key: string
  live_deploy_id: string | null
  /** Increased by every write of desired state. */
  generation: number
  /** The generation that the last reconcile saw. */
  observed_generation: number
  /** Why that reconcile could not apply it; null when it could. */
  apply_error: string | null
  created_at: number
  updated_at: number
  /** When something was last changed that containers get only with a deploy or restart. */
  settings_updated_at: number
}

export type ServiceColumns = Partial<Omit<ServiceRow, 'id'>>

/** The service with this id, in any environment. */
export function getService(id: string): ServiceRow | undefined {
  return useDatabase().get<ServiceRow>('SELECT * FROM services WHERE id = ?', id)
}

/** The service with this name in an environment. */
export function getServiceByName(environmentId: string, name: string): ServiceRow | undefined {
  return useDatabase().get<ServiceRow>(
    'SELECT * FROM services WHERE environment_id = ? AND name = ?',
    environmentId,
    name,
  )
}

/** The services of an environment, by name. */
export function listServices(environmentId: string): ServiceRow[] {
  return useDatabase().all<ServiceRow>(
    'SELECT * FROM services WHERE environment_id = ? ORDER BY name',
    environmentId,
  )
}

/** The Debian packages that language plans install for a service. */
export function aptPackagesOf({ apt_packages }: Pick<ServiceRow, 'apt_packages'>): string[] {
  return JSON.parse(apt_packages) as string[]
}

/** All services of the server. */
export function allServices(): ServiceRow[] {
  return useDatabase().all<ServiceRow>('SELECT * FROM services ORDER BY id')
}

/** Inserts a whole row. Missing columns get the table's defaults. */
export function insertService(row: { id: string } & ServiceColumns): void {
  const columns = Object.keys(row)
  useDatabase().run(
    `INSERT INTO services (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    ...(Object.values(row) as Value[]),
  )
}

/** Fields that the data plane knows of a service in addition to its addresses. */
export const ROUTING_FIELDS = ['custom_domains', 'canonical_domain', 'compression', ...EDGE_FIELDS] as const

/** Columns that take effect at once. Writing only these leaves nothing for the next deploy to apply. */
export const AT_ONCE: ReadonlySet<string> = new Set<keyof ServiceColumns>([
  'instances',
  'suspended',
  'deleting',
  'auto_deploy',
  'schedule',
  ...ROUTING_FIELDS,
  'max_shutdown_delay_seconds',
  'drain_seconds',
  'overlap_policy',
  // It holds for what starts from now on; nothing that runs moves by itself.
  'placement',
  // It is where the next disk is made; one that exists goes elsewhere only by a move.
  'node_id',
  'watch_paths',
  'registry_credential_id',
  'deploy_hook_key',
  'disk_backup_schedule',
  'disk_backup_retention',
  'disk_backup_seen_at',
])

/**
 * Writes desired state: sets the columns and increases the generation. A change of variables is a write without columns. The
 * timeline does not name the `unasked` columns, which the server chose.
 */
export function updateService(
  id: string,
  columns: ServiceColumns,
  unasked: readonly (keyof ServiceColumns)[] = [],
): void {
  const now = Date.now()
  const before = getService(id)
  const names = Object.keys(columns)
  const isAtOnce = names.length > 0 && names.every((name) => AT_ONCE.has(name))
  const all = { ...columns, updated_at: now, ...(isAtOnce ? {} : { settings_updated_at: now }) }
  const assignments = Object.keys(all).map((column) => `${column} = ?, `)
  useDatabase().run(
    `UPDATE services SET ${assignments.join('')}generation = generation + 1 WHERE id = ?`,
    ...(Object.values(all) as Value[]),
    id,
  )
  if (before) recordSettings(before, columns, unasked)
}

/** Columns that are no setting of their own, by the field of the API that they belong to; null for none. */
const FIELDS: Partial<Record<keyof ServiceColumns, string | null>> = {
  repo_credentials: 'repo_url',
  registry_credential_id: 'registry_credential',
  node_id: 'node',
  deploy_hook_key: 'deploy_hook',
  deleting: null,
  disk_backup_seen_at: null,
}

/** Tells the timeline of a service what its settings become. */
function recordSettings(
  before: ServiceRow,
  columns: ServiceColumns,
  unasked: readonly (keyof ServiceColumns)[],
): void {
  const { id } = before
  const changed = (Object.keys(columns) as (keyof ServiceColumns)[]).filter(
    (column) => columns[column] !== before[column] && !unasked.includes(column),
  )
  const {
    suspended,
    instances: to,
    ...rest
  } = Object.fromEntries(changed.map((column) => [column, columns[column]])) as ServiceColumns
  if (suspended !== undefined) recordServiceEvent(id, suspended ? 'service.suspended' : 'service.resumed')
  if (to !== undefined) recordServiceEvent(id, 'service.scaled', { details: { from: before.instances, to } })
  const fields = (Object.keys(rest) as (keyof ServiceColumns)[]).map((column) =>
    column in FIELDS ? FIELDS[column]! : column,
  )
  const names = [...new Set(fields)].filter((name) => name !== null)
  if (names.length > 0) recordServiceEvent(id, 'service.updated', { details: listedNames(names) })
}

/** Records up to when backups of its disks were made, or where they are. It is not desired state, so the generation stays. */
export function recordService(
  id: string,
  columns: Partial<Pick<ServiceRow, 'disk_backup_seen_at' | 'node_id'>>,
): void {
  const assignments = Object.keys(columns).map((column) => `${column} = ?`)
  useDatabase().run(
    `UPDATE services SET ${assignments.join(', ')} WHERE id = ?`,
    ...(Object.values(columns) as Value[]),
    id,
  )
}

/** Records that a reconcile saw this generation, and what kept it from applying it. */
export function observeService(id: string, generation: number, error: string | null): void {
  useDatabase().run(
    'UPDATE services SET observed_generation = ?, apply_error = ? WHERE id = ? AND (observed_generation <> ? OR apply_error IS NOT ?)',
    generation,
    error,
    id,
    generation,
    error,
  )
}

/** Deletes the record with its deploys, variables and instances. */
export function deleteServiceRow(id: string): void {
  useDatabase().run('DELETE FROM services WHERE id = ?', id)
}
