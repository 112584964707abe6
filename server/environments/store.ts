import { callersReach } from '../access/caller.ts'
import { useDatabase } from '../context.ts'
import type { DefaultColumns } from '../edge/columns.ts'
import { AppError } from '../errors.ts'
import { newId } from '../ids.ts'
import { PRODUCTION } from './production.ts'

/** With what holds for its services that have none of their own. */
export interface Environment extends DefaultColumns {
  id: string
  name: string
  /** The private network's /20 in CIDR form; null until the server has chosen it. */
  subnet: string | null
  /** The /20 of its overlay, which spans the nodes; null on a server of one node. */
  overlay_subnet: string | null
  created_at: number
}

/** Creates the production environment at first start. */
export function ensureProduction(): void {
  useDatabase().run(
    'INSERT INTO environments (id, name, created_at) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING',
    newId('environment'),
    PRODUCTION,
    Date.now(),
  )
}

/** The environment with this id or name, for a caller who gave it; production when none is given. Throws `not_found`. */
export function findEnvironment(idOrName: string = PRODUCTION): Environment {
  const found = useDatabase().get<Environment>(
    'SELECT * FROM environments WHERE id = ?1 OR name = ?1',
    idOrName,
  )
  const reach = callersReach()
  if (!found || (reach && !reach.environment(found.id)))
    throw new AppError('not_found', `there is no environment ${idOrName}`)
  return found
}

/** The environment that a record belongs to, regardless of the caller. Throws `not_found` when it was deleted meanwhile. */
export function loadEnvironment(id: string): Environment {
  const found = useDatabase().get<Environment>('SELECT * FROM environments WHERE id = ?', id)
  if (!found) throw new AppError('not_found', `there is no environment ${id}`)
  return found
}

/** Whether there is an environment with this id. */
export function hasEnvironment(id: string): boolean {
  return useDatabase().get('SELECT 1 FROM environments WHERE id = ?', id) !== undefined
}

/** All environments, production first, then by name. */
export function listEnvironments(): Environment[] {
  return useDatabase().all<Environment>('SELECT * FROM environments ORDER BY name <> ?, name', PRODUCTION)
}

export function insertEnvironment({
  id,
  name,
  subnet,
  created_at,
}: Omit<Environment, keyof DefaultColumns | 'overlay_subnet'>): void {
  useDatabase().run(
    'INSERT INTO environments (id, name, subnet, created_at) VALUES (?, ?, ?, ?)',
    id,
    name,
    subnet,
    created_at,
  )
}

/** Sets what holds for the services of an environment that have none of their own. */
export function setEdgeDefaults(id: string, { basic_auth, ip_allow_list }: DefaultColumns): void {
  useDatabase().run(
    'UPDATE environments SET basic_auth = ?, ip_allow_list = ? WHERE id = ?',
    basic_auth,
    ip_allow_list,
    id,
  )
}

/** Deletes the record and the addresses assigned in its network. */
export function deleteEnvironmentRow(id: string): void {
  useDatabase().run('DELETE FROM environments WHERE id = ?', id)
}

/** The names of the services in an environment, including those being deleted. */
export function serviceNames(environmentId: string): string[] {
  return useDatabase()
    .all<{ name: string }>('SELECT name FROM services WHERE environment_id = ? ORDER BY name', environmentId)
    .map(({ name }) => name)
}

/** Like `serviceNames`, for all environments at once, by their id. */
export function serviceNamesByEnvironment(): Map<string, string[]> {
  const rows = useDatabase().all<{ environment_id: string; name: string }>(
    'SELECT environment_id, name FROM services ORDER BY name',
  )
  const byEnvironment = Map.groupBy(rows, ({ environment_id }) => environment_id)
  return new Map([...byEnvironment].map(([id, services]) => [id, services.map(({ name }) => name)]))
}

/** An outdated table of routes or names may still contain its addresses, so the subnet is not reused for this long. */
const SUBNET_QUARANTINE_MS = 60 * 60_000

/** Keeps the subnet of a deleted network from being reused for a while. */
export function quarantineSubnet(subnet: string): void {
  useDatabase().run(
    `INSERT INTO resting_subnets (subnet, released_at) VALUES (?1, ?2)
     ON CONFLICT (subnet) DO UPDATE SET released_at = ?2`,
    subnet,
    Date.now(),
  )
}

/** The subnets that must not be reused yet. Forgets those whose time is up. */
export function quarantinedSubnets(): string[] {
  const database = useDatabase()
  database.run('DELETE FROM resting_subnets WHERE released_at <= ?', Date.now() - SUBNET_QUARANTINE_MS)
  return database.all<{ subnet: string }>('SELECT subnet FROM resting_subnets').map(({ subnet }) => subnet)
}

/** Records the subnet of an environment's overlay; null when it has none any more. A former one is not reused for a while. */
export function setOverlaySubnet(id: string, subnet: string | null): void {
  const former = loadEnvironment(id).overlay_subnet
  if (former === subnet) return
  useDatabase().transaction(() => {
    useDatabase().run('UPDATE environments SET overlay_subnet = ? WHERE id = ?', subnet, id)
    if (former !== null) quarantineSubnet(former)
  })
}

/** Records the subnet chosen for an environment's network. */
export function setSubnet(id: string, subnet: string): void {
  useDatabase().run('UPDATE environments SET subnet = ? WHERE id = ?', subnet, id)
}
