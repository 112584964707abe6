import { announceEnvGroup, announceService } from '../changes.ts'
import { useDatabase } from '../context.ts'
import { isUniqueViolation } from '../database/index.ts'
import { AppError } from '../errors.ts'
import { newId } from '../ids.ts'
import { settleFiles } from '../secret-files/effective.ts'
import { assertNotDeleting } from '../services/operations.ts'
import { getService, updateService, type ServiceRow } from '../services/store.ts'
import { Reading, settleEnvironment, settlePort } from '../variables/environment.ts'
import { assertSize, patchVariables, type Variable } from '../variables/rules.ts'
import { forgetReferences, insertVariables, readVariables, writeVariables } from '../variables/store.ts'
import type { EnvGroupInput } from './schema.ts'
import {
  deleteEnvGroupRow,
  findEnvGroup,
  groupIdsOf,
  insertEnvGroup,
  linkedServices,
  touchEnvGroup,
  writeLinks,
  type EnvGroupRow,
} from './store.ts'
import { nameOfLinked } from './view.ts'

/** Creates an env group. Throws `invalid_request` for too many variables, `conflict` when the name is in use. */
export function createEnvGroup({ name, vars }: EnvGroupInput): EnvGroupRow {
  assertSize(vars, 'vars')
  const now = Date.now()
  const row = { id: newId('envGroup'), name, created_at: now, updated_at: now }
  useDatabase().transaction(() => {
    try {
      insertEnvGroup(row)
    } catch (cause) {
      if (!isUniqueViolation(cause)) throw cause
      throw new AppError('conflict', `name: ${name} is in use by env group ${findEnvGroup(name).id}`, {
        cause,
      })
    }
    insertVariables(row.id, vars)
  })
  announceEnvGroup(row.id, 'created')
  return row
}

/**
 * Replaces all of a group's variables with these. Containers get them at the next deploy or restart of their service. Throws
 * `invalid_request` for too many variables, or for variables that are invalid in the whole environment of a linked service.
 */
export function replaceGroupVariables(
  group: EnvGroupRow,
  variables: readonly Variable[],
  path = 'vars',
): EnvGroupRow {
  assertSize(variables, path)
  useDatabase().transaction(() => {
    writeVariables(group.id, variables)
    touchEnvGroup(group.id)
    const reading = new Reading()
    for (const service of servicesOf(group)) {
      if (!service.deleting) settleEnvironment(service.id, { groups: path }, reading)
    }
  })
  announceEnvGroup(group.id)
  return findEnvGroup(group.id)
}

/** Sets some of a group's variables and removes others; the rest stay as they are. */
export function changeGroupVariables(
  group: EnvGroupRow,
  set: readonly Variable[],
  unset: readonly string[],
): EnvGroupRow {
  return replaceGroupVariables(group, patchVariables(readVariables(group.id), set, unset), 'set')
}

/** Deletes a group. Throws `conflict` while services are linked, unless it is forced. */
export function deleteEnvGroup(group: EnvGroupRow, force: boolean): void {
  const linked = linkedServices(group.id)
  if (linked.length > 0 && !force) {
    throw new AppError(
      'conflict',
      `env group ${group.name} is linked to ${linked.map(nameOfLinked).join(', ')}: unlink it first, or repeat with force=true`,
    )
  }
  useDatabase().transaction(() => {
    const services = servicesOf(group)
    forgetReferences(group.id)
    deleteEnvGroupRow(group.id)
    const reading = new Reading()
    for (const service of services) settlePort(service, reading)
    for (const { id, deleting } of services) if (!deleting) settleFiles(id, 'force')
  })
  announceEnvGroup(group.id, 'deleted')
  for (const { id } of linked) announceService(id)
}

/** The environments in which a change to a group may change what services get. */
export function environmentsOf(group: EnvGroupRow): string[] {
  return [...new Set(linkedServices(group.id).map(({ environment_id }) => environment_id))]
}

/**
 * Links a service to a group. The new group wins over the groups that the service is already linked to. Does nothing when
 * the link exists. Throws `invalid_request` when the service's whole environment would break a rule.
 */
export function linkEnvGroup(service: ServiceRow, groupRef: string): ServiceRow {
  const group = findEnvGroup(groupRef)
  assertNotDeleting(service)
  const linked = groupIdsOf(service.id)
  if (linked.includes(group.id)) return service
  useDatabase().transaction(() => {
    writeLinks(service.id, [...linked, group.id])
    updateService(service.id, {})
    settleEnvironment(service.id, { groups: 'group' })
    settleFiles(service.id, 'group')
  })
  announceService(service.id)
  return getService(service.id)!
}

/** Unlinks a service from a group. Throws `not_found` when they are not linked. */
export function unlinkEnvGroup(service: ServiceRow, groupRef: string): ServiceRow {
  const group = findEnvGroup(groupRef)
  const linked = groupIdsOf(service.id)
  if (!linked.includes(group.id)) {
    throw new AppError('not_found', `service ${service.name} is not linked to env group ${group.name}`)
  }
  assertNotDeleting(service)
  useDatabase().transaction(() => {
    writeLinks(
      service.id,
      linked.filter((id) => id !== group.id),
    )
    updateService(service.id, {})
    settlePort(getService(service.id)!)
    // Files that those of the group covered are there again.
    settleFiles(service.id, 'group')
  })
  announceService(service.id)
  return getService(service.id)!
}

function servicesOf(group: EnvGroupRow): ServiceRow[] {
  return linkedServices(group.id).map(({ id }) => getService(id)!)
}
