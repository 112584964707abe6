import { useDatabase } from '../context.ts'
import { AppError } from '../errors.ts'
import { newId } from '../ids.ts'

/** The environment that always exists. */
export const PRODUCTION = 'production'

export interface Environment {
  id: string
  name: string
  /** The private network's /20 in CIDR form; null until the server has chosen it. */
  subnet: string | null
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

/** The environment with this id or name; production when none is given. Throws `not_found`. */
export function findEnvironment(idOrName: string = PRODUCTION): Environment {
  const found = useDatabase().get<Environment>(
    'SELECT * FROM environments WHERE id = ?1 OR name = ?1',
    idOrName,
  )
  if (!found) throw new AppError('not_found', `there is no environment ${idOrName}`)
  return found
}

/** All environments, production first, then by name. */
export function listEnvironments(): Environment[] {
  return useDatabase().all<Environment>('SELECT * FROM environments ORDER BY name <> ?, name', PRODUCTION)
}

export function insertEnvironment({ id, name, subnet, created_at }: Environment): void {
  useDatabase().run(
    'INSERT INTO environments (id, name, subnet, created_at) VALUES (?, ?, ?, ?)',
    id,
    name,
    subnet,
    created_at,
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

/** Records the subnet chosen for an environment's network. */
export function setSubnet(id: string, subnet: string): void {
  useDatabase().run('UPDATE environments SET subnet = ? WHERE id = ?', subnet, id)
}
