import { callersReach } from '../access/caller.ts'
import { useDatabase } from '../context.ts'
import { AppError } from '../errors.ts'
import { isId } from '../ids.ts'
import { recordServiceEvent } from '../service-events/store.ts'
import type { SealedVariable } from '../variables/store.ts'

/** A row of `env_groups`. Times are milliseconds. */
export interface EnvGroupRow {
  id: string
  name: string
  created_at: number
  updated_at: number
}

/** The env group with this id or name. Throws `not_found`. */
export function findEnvGroup(idOrName: string): EnvGroupRow {
  const column = isId('envGroup', idOrName) ? 'id' : 'name'
  const found = useDatabase().get<EnvGroupRow>(`SELECT * FROM env_groups WHERE ${column} = ?`, idOrName)
  const reach = callersReach()
  if (!found || (reach && !reach.envGroup(found.id)))
    throw new AppError('not_found', `there is no env group ${idOrName}`)
  return found
}

/** All env groups, by name. */
export function listEnvGroups(): EnvGroupRow[] {
  return useDatabase().all<EnvGroupRow>('SELECT * FROM env_groups ORDER BY name')
}

export function insertEnvGroup({ id, name, created_at, updated_at }: EnvGroupRow): void {
  useDatabase().run('INSERT INTO env_groups VALUES (?, ?, ?, ?)', id, name, created_at, updated_at)
}

/** Records that a group's variables changed now. */
export function touchEnvGroup(id: string): void {
  useDatabase().run('UPDATE env_groups SET updated_at = ? WHERE id = ?', Date.now(), id)
}

/** Deletes the record, its variables and its links. */
export function deleteEnvGroupRow(id: string): void {
  useDatabase().run('DELETE FROM env_groups WHERE id = ?', id)
}

/** A service that is linked to a group. */
export interface LinkedService {
  id: string
  name: string
  environment_id: string
  environment: string
  deleting: number
}

const LINKED_SERVICES = `SELECT links.group_id, services.id, services.name, services.environment_id,
    environments.name AS environment, services.deleting
  FROM env_group_links AS links
  JOIN services ON services.id = links.service_id
  JOIN environments ON environments.id = services.environment_id`
/** Production's services come first because production is the oldest environment. */
const LINKED_ORDER = 'ORDER BY environments.created_at, environments.id, services.name'

/** The services that are linked to a group. */
export function linkedServices(groupId: string): LinkedService[] {
  return useDatabase().all<LinkedService>(
    `${LINKED_SERVICES} WHERE links.group_id = ? ${LINKED_ORDER}`,
    groupId,
  )
}

/** Like `linkedServices`, for all groups at once, by the group's id. */
export function linkedServicesByGroup(): Map<string, LinkedService[]> {
  const rows = useDatabase().all<LinkedService & { group_id: string }>(`${LINKED_SERVICES} ${LINKED_ORDER}`)
  return Map.groupBy(rows, ({ group_id }) => group_id)
}

/** The stored variables of every group, by the group's id, in the order in which they were given. */
export function variablesByGroup(): Map<string, SealedVariable[]> {
  const rows = useDatabase().all<SealedVariable & { group_id: string }>(
    'SELECT * FROM env_group_variables ORDER BY group_id, position',
  )
  return Map.groupBy(rows, ({ group_id }) => group_id)
}

/** The groups that a service is linked to. A later one wins over an earlier one. */
export function groupIdsOf(serviceId: string): string[] {
  return useDatabase()
    .all<{ group_id: string }>(
      'SELECT group_id FROM env_group_links WHERE service_id = ? ORDER BY position',
      serviceId,
    )
    .map(({ group_id }) => group_id)
}

/**
 * The names of the groups that an environment's services are linked to, in the order of the links. Covers all services, or
 * one.
 */
export function groupNamesByService(environmentId: string, only?: string): Map<string, string[]> {
  const rows = useDatabase().all<{ service_id: string; name: string }>(
    `SELECT links.service_id, env_groups.name FROM env_group_links AS links
     JOIN env_groups ON env_groups.id = links.group_id
     JOIN services ON services.id = links.service_id
     WHERE ${only === undefined ? 'services.environment_id' : 'services.id'} = ?
     ORDER BY links.service_id, links.position`,
    only ?? environmentId,
  )
  const names = new Map<string, string[]>()
  for (const { service_id, name } of rows) names.set(service_id, [...(names.get(service_id) ?? []), name])
  return names
}

/** Replaces a service's links with these, in this order. */
export function writeLinks(serviceId: string, groupIds: readonly string[]): void {
  const database = useDatabase()
  database.transaction(() => {
    if (groupIds.join() !== groupIdsOf(serviceId).join())
      recordServiceEvent(serviceId, 'service.updated', { details: { names: ['env_groups'] } })
    database.run('DELETE FROM env_group_links WHERE service_id = ?', serviceId)
    insertLinks(serviceId, groupIds)
  })
}

/** Like `writeLinks`, for a new service that has no links. Call it in the transaction that creates the service. */
export function insertLinks(serviceId: string, groupIds: readonly string[]): void {
  for (const [position, groupId] of [...new Set(groupIds)].entries())
    useDatabase().run('INSERT INTO env_group_links VALUES (?, ?, ?)', serviceId, groupId, position)
}
