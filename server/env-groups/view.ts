import { timestamp } from '../clock.ts'
import { qualifiedName } from '../services/qualified-name.ts'
import { openVariables, readSealed, type SealedVariable } from '../variables/store.ts'
import type { EnvGroup } from './schema.ts'
import {
  linkedServices,
  linkedServicesByGroup,
  listEnvGroups,
  variablesByGroup,
  type EnvGroupRow,
  type LinkedService,
} from './store.ts'

/** All env groups as the API returns them, by name. */
export function viewEnvGroups(): EnvGroup[] {
  const variables = variablesByGroup()
  const services = linkedServicesByGroup()
  return listEnvGroups().map((row) => view(row, variables.get(row.id) ?? [], services.get(row.id) ?? []))
}

/** One env group as the API returns it. */
export function viewEnvGroup(row: EnvGroupRow): EnvGroup {
  return view(row, readSealed(row.id), linkedServices(row.id))
}

/** The name of a linked service, which is unique over all environments. */
export function nameOfLinked({ name, environment }: LinkedService): string {
  return qualifiedName(name, { name: environment })
}

function view(
  row: EnvGroupRow,
  variables: readonly SealedVariable[],
  services: readonly LinkedService[],
): EnvGroup {
  return {
    id: row.id,
    name: row.name,
    vars: openVariables(variables),
    services: services.map(nameOfLinked),
    created_at: timestamp(row.created_at),
    updated_at: timestamp(row.updated_at),
  }
}
