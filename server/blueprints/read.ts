import { PRODUCTION } from '../environments/store.ts'
import { readDialect } from './dialect.ts'
import { Faults, type Fault } from './faults.ts'
import { readNative } from './native.ts'
import type { OwnRepository, Project } from './project.ts'
import { readYaml, TOP } from './yaml.ts'

/** One machine runs fewer; with their variables they are planned and written while nobody else is answered. */
export const MAX_RESOURCES = 500
const MAX_VARIABLES = 5_000

/** Where a file that does not say it itself belongs, and where it is from. */
export interface FileContext {
  environment?: string | undefined
  repository?: OwnRepository | undefined
}

/** A file that was read, and what had no counterpart in it: plain data, which a thread can hand to another one. */
export interface ReadFile {
  project: Project
  warnings: string[]
  /** What else is wrong with it, to be told together with what a look at the server finds. */
  faults: readonly Fault[]
}

/**
 * Reads a blueprint of any dialect. Throws `invalid_request` when it is no YAML, `payload_too_large` when it is too long.
 */
export function readBlueprint(text: string, { environment = PRODUCTION, repository }: FileContext): ReadFile {
  const faults = new Faults()
  const warnings: string[] = []
  const project: Project = { environments: [], groups: [], datastores: [], services: [], unread: new Set() }
  for (const file of readDialect(readYaml(text, faults), repository ?? null, { faults, warnings })) {
    if (file.environment !== null) project.environments.push({ name: file.environment, node: file.node })
    readNative(file.node, file.environment ?? environment, project, faults)
  }
  boundSize(project, faults)
  return { project, warnings, faults: faults.found }
}

/** Refuses a file of which even the look at the server would take too long. */
function boundSize({ groups, datastores, services }: Project, faults: Faults): void {
  const resources = groups.length + datastores.length + services.length
  const variables = [...groups, ...services].reduce((sum, holder) => sum + holder.variables.length, 0)
  if (resources <= MAX_RESOURCES && variables <= MAX_VARIABLES) return
  faults.add(
    TOP,
    resources > MAX_RESOURCES
      ? `describes ${resources} services, datastores and env groups: at most ${MAX_RESOURCES} are taken`
      : `has ${variables} variables: at most ${MAX_VARIABLES} are taken`,
  )
  faults.refuse()
}
