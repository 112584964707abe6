import type { DatastoreKind } from '../datastores/kinds.ts'
import type { ServiceType } from '../services/types.ts'
import type { Place } from './faults.ts'
import type { MappingNode, Node } from './nodes.ts'

/** The name of anything whose name cannot be read, and the environment of a file whose `environment` is invalid. */
export const UNNAMED = ''

/** The repository that contains a file. */
export interface OwnRepository {
  url: string
  branch: string | null
}

/** What a file of any dialect asks for; everything in it has its place in the file. */
export interface Project {
  /** Those that the file names; they are created if they do not exist. */
  environments: WantedEnvironment[]
  groups: WantedGroup[]
  datastores: WantedDatastore[]
  services: WantedService[]
  /** Names of what could not be read: references to them are not reported as faults. */
  unread: Set<string>
}

export interface WantedEnvironment {
  name: string
  /** The node with the name. */
  node: Node
}

/** Something with a name of its own; `node` finds the places of its fields. */
interface Wanted {
  name: string
  node: MappingNode
}

export interface WantedGroup extends Wanted {
  variables: WantedVariable[]
  files: WantedFile[]
}

export interface WantedDatastore extends Wanted {
  environment: string
  /** Undefined if it cannot be read. */
  kind: DatastoreKind | undefined
  /** Those that the file sets; null returns a field to its default. */
  fields: Record<string, unknown>
}

export interface WantedService extends Wanted {
  environment: string
  /** If undefined, a new service is a web service and an existing one keeps its type. */
  type: ServiceType | undefined
  fields: Record<string, unknown>
  variables: WantedVariable[]
  files: WantedFile[]
  /** If undefined, the links stay as they are. */
  groups: string[] | undefined
  /** False skips the deploys that would follow. */
  deploys: boolean
  /** Fields that are invalid, and so not in `fields`. */
  wrong: ReadonlySet<string>
}

/** A variable: its value, or whether it is generated once, set by hand, or the URL of its own service. */
export interface WantedVariable {
  key: string
  place: Place
  from: { value: string } | 'generated' | 'by hand' | 'own url'
}

/** A secret file: its content, or whether it is put by hand. Other fields that are undefined stay as they are. */
export interface WantedFile {
  name: string
  place: Place
  from: { content: Buffer } | 'by hand'
  /** Null is the default. */
  path: string | null | undefined
  mode: string | undefined
  secret: boolean | undefined
}

/** A key that is unique across environments; names do not contain slashes. */
export function keyOf(environment: string, name: string): string {
  return `${environment}/${name}`
}
