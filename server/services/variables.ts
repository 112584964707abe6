import { announceService } from '../changes.ts'
import { useDatabase } from '../context.ts'
import { settleEnvironment } from '../variables/environment.ts'
import { assertSize, patchVariables, type Variable } from '../variables/rules.ts'
import { readVariables, writeVariables } from '../variables/store.ts'
import { assertNotDeleting } from './operations.ts'
import { updateService, type ServiceRow } from './store.ts'

/**
 * Replaces all of a service's own variables with these. Its containers get them at the next deploy or restart. Throws
 * `invalid_request` for too many variables, or for variables that are invalid together with those of the linked groups.
 */
export function replaceVariables(
  service: ServiceRow,
  variables: readonly Variable[],
  path = 'vars',
): Variable[] {
  assertSize(variables, path)
  assertNotDeleting(service)
  useDatabase().transaction(() => {
    writeVariables(service.id, variables)
    updateService(service.id, {})
    settleEnvironment(service.id, { own: path, groups: path })
  })
  announceService(service.id)
  return readVariables(service.id)
}

/** Sets some of a service's own variables and removes others; the rest stay as they are. */
export function changeVariables(
  service: ServiceRow,
  set: readonly Variable[],
  unset: readonly string[],
): Variable[] {
  return replaceVariables(service, patchVariables(readVariables(service.id), set, unset), 'set')
}
