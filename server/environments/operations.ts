import { announce } from '../changes.ts'
import { useDatabase } from '../context.ts'
import { isUniqueViolation } from '../database/index.ts'
import { datastoreNames } from '../datastores/store.ts'
import { assertEnvironmentHostsFree } from '../domains/claims.ts'
import { edgeColumns } from '../edge/columns.ts'
import type { PasswordHashes } from '../edge/passwords.ts'
import { AppError } from '../errors.ts'
import { assertUnfenced } from '../restore/fence.ts'
import { newId } from '../ids.ts'
import { PRODUCTION } from './production.ts'
import type { EnvironmentInput, EnvironmentPatch } from './schema.ts'
import {
  deleteEnvironmentRow,
  findEnvironment,
  insertEnvironment,
  listEnvironments,
  loadEnvironment,
  quarantineSubnet,
  serviceNames,
  setEdgeDefaults,
  type Environment,
} from './store.ts'

/** Private networks are taken from a range of 256 subnets; some are left for networks that others create there. */
const MAX_ENVIRONMENTS = 250

/** Creates an environment. Throws `conflict` when its name or a host under it is taken, or there are too many. */
export function createEnvironment({ name }: EnvironmentInput): Environment {
  assertUnfenced()
  const id = newId('environment')
  useDatabase().transaction(() => {
    try {
      insertEnvironment({ id, name, subnet: null, created_at: Date.now() })
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
  return loadEnvironment(id)
}

/** Changes what holds for its services that have none of their own. `hashes` has those of the passwords in the patch. */
export function patchEnvironment(
  environment: Environment,
  { edge_defaults }: EnvironmentPatch,
  hashes: PasswordHashes,
): Environment {
  if (edge_defaults === undefined) return environment
  const given = edge_defaults ?? NO_DEFAULTS
  const { basic_auth, ip_allow_list } = environment
  const columns = { basic_auth, ip_allow_list, ...edgeColumns(given, basic_auth, hashes, 'edge_defaults.') }
  if (columns.basic_auth === basic_auth && columns.ip_allow_list === ip_allow_list) return environment
  setEdgeDefaults(environment.id, columns)
  announceEnvironments()
  return loadEnvironment(environment.id)
}

const NO_DEFAULTS = { basic_auth: null, ip_allow_list: null }

/**
 * Deletes an environment. Its subnet is not reused for a while. Throws `conflict` for production, and while it contains
 * something.
 */
export function deleteEnvironment(environment: Environment): void {
  assertUnfenced()
  if (environment.name === PRODUCTION)
    throw new AppError('conflict', `environment ${PRODUCTION} cannot be deleted`)
  useDatabase().transaction(() => {
    assertEmpty(environment)
    const { subnet, overlay_subnet } = loadEnvironment(environment.id)
    deleteEnvironmentRow(environment.id)
    for (const each of [subnet, overlay_subnet]) if (each !== null) quarantineSubnet(each)
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
