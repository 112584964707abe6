import type { DatastoreKind } from '../datastores/kinds.ts'
import type { ServiceType } from '../services/types.ts'
import type { Place } from './faults.ts'
import type { MappingNode, Node } from './nodes.ts'

/** The name of what has none that can be read, and of the environment of what stands where the file's own is at fault. */
export const UNNAMED = ''

/** The repository that a file is of. */
export interface OwnRepository {
  url: string
  branch: string | null
}

/** What a file asks for, of any dialect: everything in it knows where it stands. */
export interface Project {
  /** Those that the file names; they are made when they are not there. */
  environments: WantedEnvironment[]
  groups: WantedGroup[]
  datastores: WantedDatastore[]
  services: WantedService[]
  /** Names of what could not be read: whatever refers to them is no fault of its own. */
  unread: Set<string>
}

export interface WantedEnvironment {
  name: string
  /** Where it is named. */
  node: Node
}

/** Something with a name of its own; `node` finds the places of its fields. */
interface Wanted {
  name: string
  node: MappingNode
}

export interface WantedGroup extends Wanted {
  variables: WantedVariable[]
}

export interface WantedDatastore extends Wanted {
  environment: string
  /** Undefined is one that cannot be read. */
  kind: DatastoreKind | undefined
  /** Those that the file has; null is a return to the default. */
  fields: Record<string, unknown>
}

export interface WantedService extends Wanted {
  environment: string
  /** Undefined is a web service when it is made, and as it is when it is there. */
  type: ServiceType | undefined
  fields: Record<string, unknown>
  variables: WantedVariable[]
  /** Undefined leaves the links as they are. */
  groups: string[] | undefined
  /** False skips the deploys that would follow. */
  deploys: boolean
  /** Fields that are wrong, and so not among `fields`. */
  wrong: ReadonlySet<string>
}

/** A variable: its value, or whether it is made once, left to people, or the address of its own service. */
export interface WantedVariable {
  key: string
  place: Place
  from: { value: string } | 'generated' | 'by hand' | 'own url'
}

/** Tells things of one kind apart; no name holds a slash. */
export function keyOf(environment: string, name: string): string {
  return `${environment}/${name}`
}
