import { announce } from '../changes.ts'
import { useDatabase } from '../context.ts'
import { isUniqueViolation } from '../database/index.ts'
import { datastoreNames } from '../datastores/store.ts'
import { assertEnvironmentHostsFree } from '../domains/claims.ts'
import { AppError } from '../errors.ts'
import { newId } from '../ids.ts'
import type { EnvironmentInput } from './schema.ts'
import {
  deleteEnvironmentRow,
  findEnvironment,
  insertEnvironment,
  listEnvironments,
  PRODUCTION,
  quarantineSubnet,
  serviceNames,
  type Environment,
} from './store.ts'

/** Private networks are taken from a range of 256 subnets; some are left for networks that others create there. */
const MAX_ENVIRONMENTS = 250

/** Creates an environment. Throws `conflict` when its name or a host under it is taken, or there are too many. */
export function createEnvironment({ name }: EnvironmentInput): Environment {
  const row: Environment = { id: newId('environment'), name, subnet: null, created_at: Date.now() }
  useDatabase().transaction(() => {
    try {
      insertEnvironment(row)
    } catch (cause) {
      if (!isUniqueViolation(cause)) throw cause
      throw new AppError('conflict', `name: ${name} is in use by environment ${findEnvironment(name).id}`, {
        cause,
      })
    }
    assertEnvironmentHostsFree(name)
    if (listEnvironments().length > MAX_ENVIRONMENTS)
      throw new AppError(
        'conflict',
        `there are ${MAX_ENVIRONMENTS} environments already, which is the maximum: delete one that is not needed`,
      )
  })
  announceEnvironments()
  return row
}

/**
 * Deletes an environment. Its subnet is not reused for a while. Throws `conflict` for production, and while it contains
 * something.
 */
export function deleteEnvironment(environment: Environment): void {
  if (environment.name === PRODUCTION)
    throw new AppError('conflict', `environment ${PRODUCTION} cannot be deleted`)
  useDatabase().transaction(() => {
    assertEmpty(environment)
    const { subnet } = findEnvironment(environment.id)
    deleteEnvironmentRow(environment.id)
    if (subnet !== null) quarantineSubnet(subnet)
  })
  announceEnvironments()
}

function assertEmpty({ id, name }: Environment): void {
  const held = [
    ['services', serviceNames(id)],
    ['datastores', datastoreNames(id)],
  ] as const
  const contents = held
    .filter(([, names]) => names.length > 0)
    .map(([kind, names]) => `${kind}: ${names.join(', ')}`)
  if (contents.length > 0)
    throw new AppError('conflict', `environment ${name} holds ${contents.join('; ')}. Delete them first.`)
}

/** Announces a change of environments, which have no kind of their own in the change feed. */
function announceEnvironments(): void {
  announce({ kind: 'all', id: '*', service_id: null, action: 'resync' })
}
