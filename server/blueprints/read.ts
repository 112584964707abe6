import { PRODUCTION } from '../environments/store.ts'
import { readDialect } from './dialect.ts'
import { Faults } from './faults.ts'
import { readNative } from './native.ts'
import type { OwnRepository, Project } from './project.ts'
import { readYaml } from './yaml.ts'

/** Where a file that does not say it itself belongs, and where it is from. */
export interface FileContext {
  environment?: string | undefined
  repository?: OwnRepository | undefined
}

/** A file that was read, and what had no counterpart in it. */
export interface ReadFile {
  project: Project
  warnings: string[]
  /** What else is wrong with it, to be told together with what a look at the server finds. */
  faults: Faults
}

/**
 * Reads a blueprint of any dialect. Throws `invalid_request` when it is no YAML, `payload_too_large` when it is too long.
 */
export function readBlueprint(text: string, { environment = PRODUCTION, repository }: FileContext): ReadFile {
  const faults = new Faults()
  const warnings: string[] = []
  const project: Project = { environments: [], groups: [], datastores: [], services: [], unread: new Set() }
  for (const file of readDialect(readYaml(text), repository ?? null, { faults, warnings })) {
    if (file.environment !== null)
      project.environments.push({ name: file.environment, place: file.node.place })
    readNative(file.node, file.environment ?? environment, project, faults)
  }
  return { project, warnings, faults }
}
