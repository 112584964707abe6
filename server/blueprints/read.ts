import { PRODUCTION } from '../environments/production.ts'
import { readDialect } from './dialect.ts'
import { Faults, type Fault } from './faults.ts'
import { readNative } from './native.ts'
import type { OwnRepository, Project } from './project.ts'
import { readYaml, TOP } from './yaml.ts'

/** More than one machine can run. They are planned and written with their variables while no other request is answered. */
export const MAX_RESOURCES = 500
const MAX_VARIABLES = 5_000

/** The environment of a file that does not name one, and the repository that it comes from. */
export interface FileContext {
  environment?: string | undefined
  repository?: OwnRepository | undefined
}

/** A file after reading, with warnings about what has no counterpart: plain data, which threads can exchange. */
export interface ReadFile {
  project: Project
  warnings: string[]
  /** Faults that are reported together with those that are found against the server's state. */
  faults: readonly Fault[]
}

/**
 * Reads a blueprint of any dialect. Throws `invalid_request` if it is not YAML, `payload_too_large` if it is too long.
 */
export function readBlueprint(text: string, { environment = PRODUCTION, repository }: FileContext): ReadFile {
  const faults = new Faults()
  const warnings: string[] = []
  const project: Project = { environments: [], groups: [], datastores: [], services: [], unread: new Set() }
  for (const file of readDialect(readYaml(text, faults), repository ?? null, { faults, warnings })) {
    if (file.environment !== null) project.environments.push({ name: file.environment, node: file.node })
    readNative(file.node, file.environment ?? environment, project, faults)
  }
  assertSize(project, faults)
  return { project, warnings, faults: faults.found }
}

/** Refuses a file for which even checking against the server's state would take too long. */
function assertSize({ groups, datastores, services }: Project, faults: Faults): void {
  const resources = groups.length + datastores.length + services.length
  const variables = [...groups, ...services].reduce((sum, holder) => sum + holder.variables.length, 0)
  if (resources <= MAX_RESOURCES && variables <= MAX_VARIABLES) return
  faults.add(
    TOP,
    resources > MAX_RESOURCES
      ? `describes ${resources} services, datastores and env groups: at most ${MAX_RESOURCES} are allowed`
      : `has ${variables} variables: at most ${MAX_VARIABLES} are allowed`,
  )
  faults.refuse()
}
