import { scalarAt } from './builder.ts'
import { nearestName, warn, type ForeignMapping, type Notes } from './foreign.ts'
import type { ScalarNode } from './nodes.ts'

/** Types of services that have no counterpart here. */
const LEFT_OUT_TYPES = new Set(['workflow'])
const AS_LABELS = ', since names are DNS labels'
const STORE_TYPES = new Set(['redis', 'keyvalue'])

/** The lists in one place of a file: at its top, in an environment, or in `ungrouped`. */
export interface Holders {
  databases: readonly ForeignMapping[]
  services: readonly ForeignMapping[]
  groups: readonly ForeignMapping[]
}

/**
 * The names here of everything in one place of a file. Here names are DNS labels, and databases and services share one
 * namespace; in Render neither is so.
 */
export class RenderNames {
  readonly #names = new Map<ForeignMapping, ScalarNode>()
  readonly #services = new Map<string, ForeignMapping>()
  /** The name here of a database or of its replicas, by the nearest name. */
  readonly #databases = new Map<string, string>()
  /** The same for groups. */
  readonly #groups = new Map<string, { name: string; mapping: ForeignMapping }>()
  readonly #notes: Notes

  /** `taken` are the names of groups in other places of the file: here a name means one group everywhere. */
  constructor(holders: Holders, environment: string | null, taken: Set<string>, notes: Notes) {
    this.#notes = notes
    const { databases, services, groups } = holders
    for (const group of groups) this.#nameGroup(group, environment, taken)
    for (const { name } of this.#groups.values()) taken.add(name)
    for (const service of services) {
      const given = service.scalar('name')
      if (given) this.#services.set(this.#name(service, given, nearestName(given.text), AS_LABELS), service)
    }
    for (const database of databases) this.#nameDatabase(database)
  }

  nameNode(holder: ForeignMapping): ScalarNode | undefined {
    return this.#names.get(holder)
  }

  /** The name here of a group that a service in this place refers to. */
  groupName(name: string): string {
    return this.#groups.get(nearestName(name))?.name ?? nearestName(name)
  }

  /** The name here of a database that a variable in this place refers to. */
  databaseName(name: string): string {
    return this.#databases.get(nearestName(name)) ?? nearestName(name)
  }

  /** Whether a service of this name is a key-value store, which is a datastore here. */
  isStore(name: string): boolean {
    const service = this.#services.get(name)
    return service !== undefined && isStore(service)
  }

  isLeftOut(name: string): boolean {
    const service = this.#services.get(name)
    return service !== undefined && isLeftOut(service)
  }

  /** Whether a service of the file sets this variable itself. */
  hasOwn(name: string, key: string): boolean {
    return holdsKey(this.#services.get(name), key)
  }

  /** Whether a service gets this variable from one of the file's groups. */
  hasOfGroup(name: string, key: string): boolean {
    const linked = (this.#services.get(name)?.mappings('envVars') ?? []).flatMap(
      (entry) => entry.text('fromGroup') ?? [],
    )
    return linked.some((group) => holdsKey(this.#groups.get(nearestName(group))?.mapping, key))
  }

  #name(holder: ForeignMapping, given: ScalarNode, name: string, why = ''): string {
    if (name !== given.text) warn(this.#notes, given, `is named ${name} here${why}`)
    this.#names.set(holder, scalarAt(given.place, name))
    return name
  }

  #nameGroup(group: ForeignMapping, environment: string | null, taken: ReadonlySet<string>): void {
    const given = group.scalar('name')
    if (!given) return
    const nearest = nearestName(given.text)
    const free = taken.has(nearest) ? nearestName(`${nearest}-${environment ?? 'ungrouped'}`) : nearest
    this.#groups.set(nearest, { name: this.#name(group, given, free), mapping: group })
  }

  #nameDatabase(database: ForeignMapping): void {
    const given = database.scalar('name')
    if (!given) return
    const nearest = nearestName(given.text)
    const isTaken = this.#services.has(nearest)
    const why = isTaken ? ', since a service has that name' : AS_LABELS
    const name = this.#name(database, given, isTaken ? nearestName(`${nearest}-db`) : nearest, why)
    this.#databases.set(nearest, name)
    for (const replica of database.mappings('readReplicas')) {
      const other = replica.scalar('name')
      if (!other) continue
      warn(this.#notes, other, `there are no replicas here: ${other.text} is ${name} itself`)
      this.#databases.set(nearestName(other.text), name)
    }
  }
}

/** Whether a service is a key-value store, which is a datastore here. */
export function isStore(service: ForeignMapping): boolean {
  return STORE_TYPES.has(service.text('type') ?? '')
}

/** Whether a service is of a type that has no counterpart here. */
export function isLeftOut(service: ForeignMapping): boolean {
  return LEFT_OUT_TYPES.has(service.text('type') ?? '')
}

function holdsKey(holder: ForeignMapping | undefined, key: string): boolean {
  return holder?.mappings('envVars').some((entry) => entry.text('key') === key) ?? false
}
