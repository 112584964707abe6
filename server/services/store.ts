import type { Value } from '../database/index.ts'
import { useDatabase } from '../context.ts'
import type { Runtime } from './schema.ts'
import type { ServiceType } from './types.ts'

/** A row of `services`: the desired state. Times are milliseconds, booleans 0 or 1. */
export interface ServiceRow {
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
  disk_mount_path: string | null
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

/** Columns that take effect at once. Writing only these leaves nothing for the next deploy to apply. */
export const AT_ONCE: ReadonlySet<string> = new Set<keyof ServiceColumns>([
  'instances',
  'suspended',
  'deleting',
  'auto_deploy',
  'schedule',
  'custom_domains',
  'canonical_domain',
  'compression',
  'watch_paths',
  'deploy_hook_key',
])

/** Writes desired state: sets the columns and increases the generation. A change of variables is a write without columns. */
export function updateService(id: string, columns: ServiceColumns): void {
  const now = Date.now()
  const names = Object.keys(columns)
  const isAtOnce = names.length > 0 && names.every((name) => AT_ONCE.has(name))
  const all = { ...columns, updated_at: now, ...(isAtOnce ? {} : { settings_updated_at: now }) }
  const assignments = Object.keys(all).map((column) => `${column} = ?, `)
  useDatabase().run(
    `UPDATE services SET ${assignments.join('')}generation = generation + 1 WHERE id = ?`,
    ...(Object.values(all) as Value[]),
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
