import { callersReach } from '../access/caller.ts'
import { useDatabase } from '../context.ts'
import type { Value } from '../database/index.ts'
import { AppError } from '../errors.ts'
import { isId } from '../ids.ts'

/** A row of `registry_credentials`. Times are milliseconds. */
export interface RegistryCredentialRow {
  id: string
  name: string
  /** As `readRegistry` writes it. */
  host: string
  /** Null for every image of the registry. */
  path_prefix: string | null
  username: string
  /** Sealed. */
  password: Uint8Array
  created_at: number
  updated_at: number
}

/** The registry credential with this id or name. Throws `not_found`. */
export function findRegistryCredential(idOrName: string): RegistryCredentialRow {
  const column = isId('registryCredential', idOrName) ? 'id' : 'name'
  const found = useDatabase().get<RegistryCredentialRow>(
    `SELECT * FROM registry_credentials WHERE ${column} = ?`,
    idOrName,
  )
  const reach = callersReach()
  // A restricted caller knows those that its services name.
  if (!found || (reach && !servicesNaming(found.id).some(({ id }) => reach.service(id))))
    throw new AppError('not_found', `there is no registry credential ${idOrName}`)
  return found
}

export function getRegistryCredential(id: string): RegistryCredentialRow | undefined {
  return useDatabase().get<RegistryCredentialRow>('SELECT * FROM registry_credentials WHERE id = ?', id)
}

/** All registry credentials, by name. */
export function listRegistryCredentials(): RegistryCredentialRow[] {
  return useDatabase().all<RegistryCredentialRow>('SELECT * FROM registry_credentials ORDER BY name')
}

export function insertRegistryCredential(row: RegistryCredentialRow): void {
  const columns = Object.keys(row)
  useDatabase().run(
    `INSERT INTO registry_credentials (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    ...(Object.values(row) as Value[]),
  )
}

export function updateRegistryCredential(
  id: string,
  columns: Partial<Omit<RegistryCredentialRow, 'id'>>,
): void {
  const set = Object.keys(columns).map((column) => `${column} = ?`)
  useDatabase().run(
    `UPDATE registry_credentials SET ${set.join(', ')} WHERE id = ?`,
    ...(Object.values(columns) as Value[]),
    id,
  )
}

export function deleteRegistryCredentialRow(id: string): void {
  useDatabase().run('DELETE FROM registry_credentials WHERE id = ?', id)
}

/** A service that names a registry credential. */
export interface NamingService {
  id: string
  name: string
  environment: string
}

/** The services that name a registry credential. */
export function servicesNaming(credentialId: string): NamingService[] {
  return useDatabase().all<NamingService>(
    `SELECT services.id, services.name, environments.name AS environment
     FROM services JOIN environments ON environments.id = environment_id
     WHERE registry_credential_id = ? ORDER BY environments.created_at, environments.id, services.name`,
    credentialId,
  )
}
