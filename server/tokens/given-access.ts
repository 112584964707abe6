import { FULL, type Access } from '../access/access.ts'
import { useDatabase } from '../context.ts'
import type { Database } from '../database/index.ts'
import { AppError } from '../errors.ts'
import type { AccessInput } from './access-schema.ts'

/**
 * What a new token may do, with the ids of what was named. Throws `not_found` for an environment or a service that does not
 * exist, `invalid_request` for a service that is in none of the environments.
 */
export function givenAccess(input: AccessInput | undefined, database: Database = useDatabase()): Access {
  if (input === undefined) return FULL
  const { mode, secrets } = input
  const environments = input.environments?.map((ref) => environmentId(database, ref)) ?? null
  const services = input.services?.map((id, index) => serviceId(database, id, index, environments)) ?? null
  return { mode, secrets, environments: distinct(environments), services: distinct(services) }
}

function environmentId(database: Database, ref: string): string {
  const found = database.get<{ id: string }>('SELECT id FROM environments WHERE id = ?1 OR name = ?1', ref)
  if (!found) throw new AppError('not_found', `access.environments: there is no environment ${ref}`)
  return found.id
}

function serviceId(database: Database, id: string, index: number, environments: string[] | null): string {
  const found = database.get<{ name: string; environment_id: string }>(
    'SELECT name, environment_id FROM services WHERE id = ?',
    id,
  )
  if (!found) throw new AppError('not_found', `access.services: there is no service ${id}`)
  // Restricted to both, a token reaches what both allow: nothing, for this one.
  if (environments && !environments.includes(found.environment_id))
    throw new AppError(
      'invalid_request',
      `access.services.${index}: service ${found.name} is in none of the environments of the token: add its environment, or leave the service out`,
    )
  return id
}

function distinct(ids: string[] | null): string[] | null {
  return ids && [...new Set(ids)]
}
