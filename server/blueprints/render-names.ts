import { scalarAt } from './builder.ts'
import { nearestName, warn, type ForeignMapping, type Notes } from './foreign.ts'
import type { ScalarNode } from './nodes.ts'

/** Types of services that nothing here is like. */
const LEFT_OUT_TYPES = new Set(['workflow'])
const AS_LABELS = ', as names are DNS labels'
const STORE_TYPES = new Set(['redis', 'keyvalue'])

/** What stands in one place of a file: at its top, in an environment, or in `ungrouped`. */
export interface Holders {
  databases: readonly ForeignMapping[]
  services: readonly ForeignMapping[]
  groups: readonly ForeignMapping[]
}

/**
 * What the things of a place are called here. Names are DNS labels, which theirs need not be, and databases share them
 * with services, which theirs do not.
 */
export class RenderNames {
  readonly #names = new Map<ForeignMapping, ScalarNode>()
  readonly #services = new Map<string, ForeignMapping>()
  /** What a database or a replica of it is called here, by the nearest name. */
  readonly #databases = new Map<string, string>()
  /** The same of groups, of which one name means one in the whole file. */
  readonly #groups = new Map<string, { name: string; mapping: ForeignMapping }>()
  readonly #notes: Notes

  /** `taken` are the names of the groups of other places: here one name means one group. */
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

  /** What a group that a service of this place names is called here. */
  groupName(name: string): string {
    return this.#groups.get(nearestName(name))?.name ?? nearestName(name)
  }

  /** What a database that a variable of this place names is called here. */
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

  /** Whether one of the file's groups gives a service this variable. */
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
    const why = isTaken ? ', as a service has its name' : AS_LABELS
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

/** Whether a service is of a type that nothing here is like. */
export function isLeftOut(service: ForeignMapping): boolean {
  return LEFT_OUT_TYPES.has(service.text('type') ?? '')
}

function holdsKey(holder: ForeignMapping | undefined, key: string): boolean {
  return holder?.mappings('envVars').some((entry) => entry.text('key') === key) ?? false
}
