import { KINDS, type DatastoreKind } from '../datastores/kinds.ts'
import { groupIdsOf, linkedServices } from '../env-groups/store.ts'
import { TYPES } from '../services/types.ts'
import { ESCAPE_HINT, writeReference, type Reference } from '../variables/references.ts'
import { readSealed } from '../variables/store.ts'
import type { Faults } from './faults.ts'
import { placeIn } from './nodes.ts'
import { keyOf, UNNAMED, type Project, type WantedService } from './project.ts'
import { referencesOf } from './references.ts'
import type { Standing } from './standing.ts'
import { ownUrl } from './variables.ts'

/** Finds references to what neither exists nor is created by the project: linked env groups, registry credentials, and references in variables. */
export function checkReferences(project: Project, standing: Standing, faults: Faults): void {
  const index = new Index(project, standing)
  for (const service of project.services) {
    checkLinks(service, index, faults)
    for (const variable of service.variables) {
      if (variable.from === 'own url' && !service.wrong.has('type') && ownUrl(service, standing) === null)
        faults.add(variable.place, `${service.name} has no url`)
      for (const reference of referencesOf(variable)) {
        const fault = referenceFault(reference, service, index)
        if (fault !== null) faults.add(variable.place, fault)
      }
    }
  }
  for (const { name, variables } of project.groups) {
    const referring = variables.filter((variable) => referencesOf(variable).length > 0)
    const holders = referring.length > 0 ? index.holdersOf(name) : []
    for (const variable of referring) {
      const shown = holders.filter((holder) => !index.isHidden(holder, name, variable.key))
      for (const reference of referencesOf(variable)) {
        // Reported once, not for each service that gets the variable.
        const fault = firstOf(shown, (holder) => referenceFault(reference, holder, index))
        if (fault !== null) faults.add(variable.place, fault)
      }
    }
  }
}

/** A service, in the file or not, and the env groups that it is linked to. */
interface Holder {
  environment: string
  name: string
  groups: readonly string[]
}

/** What references can point to: what exists, and what the file creates. */
class Index {
  readonly standing: Standing
  readonly services: ReadonlyMap<string, WantedService>
  /** By key; the kind is undefined where it cannot be read. */
  readonly datastores: ReadonlyMap<string, DatastoreKind | undefined>
  readonly groups: ReadonlySet<string>
  readonly unread: ReadonlySet<string>
  readonly #project: Project
  readonly #groupNames: ReadonlyMap<string, string>
  readonly #keys = new Map<string, ReadonlySet<string>>()
  readonly #groupKeys = new Map<string, ReadonlySet<string>>()

  constructor(project: Project, standing: Standing) {
    this.#project = project
    this.standing = standing
    this.services = new Map(
      project.services.map((wanted) => [keyOf(wanted.environment, wanted.name), wanted]),
    )
    this.datastores = new Map(
      project.datastores.map(({ environment, name, kind }) => [keyOf(environment, name), kind]),
    )
    this.groups = new Set(project.groups.map(({ name }) => name))
    this.unread = project.unread
    this.#groupNames = new Map([...standing.groups.values()].map(({ id, name }) => [id, name]))
  }

  hasGroup(idOrName: string): boolean {
    const { groups, unread, standing } = this
    return (
      [groups, unread, standing.groups].some((names) => names.has(idOrName)) || this.#groupNames.has(idOrName)
    )
  }

  /** The keys of the variables that a service already has itself, or gets from the file. */
  keysOf(environment: string, name: string): ReadonlySet<string> {
    const target = keyOf(environment, name)
    const there = this.standing.service(environment, name)
    const wanted = this.services.get(target)?.variables ?? []
    return keysOf(this.#keys, target, there?.id, wanted)
  }

  /** The services that get the variables of a group. */
  holdersOf(group: string): Holder[] {
    const ofFile = this.#project.services.map(({ environment, name, groups }): Holder => {
      const there = this.standing.service(environment, name)
      const linked = groups?.map((idOrName) => this.#groupNames.get(idOrName) ?? idOrName)
      return { environment, name, groups: linked ?? (there ? this.#linkedTo(there.id) : []) }
    })
    const there = this.standing.groups.get(group)
    const others = (there ? linkedServices(there.id) : [])
      .filter(({ environment, name, deleting }) => !deleting && !this.services.has(keyOf(environment, name)))
      .map(({ environment, name, id }): Holder => ({ environment, name, groups: this.#linkedTo(id) }))
    return [...ofFile.filter(({ groups }) => groups.includes(group)), ...others]
  }

  /** Whether a group's variable is overridden for a service, by its own or by that of a group linked later. */
  isHidden({ environment, name, groups }: Holder, group: string, key: string): boolean {
    const later = groups.slice(groups.lastIndexOf(group) + 1)
    return this.keysOf(environment, name).has(key) || later.some((other) => this.#keysOfGroup(other).has(key))
  }

  #keysOfGroup(name: string): ReadonlySet<string> {
    const wanted = this.#project.groups.filter((group) => group.name === name)
    const variables = wanted.flatMap((group) => group.variables)
    return keysOf(this.#groupKeys, name, this.standing.groups.get(name)?.id, variables)
  }

  #linkedTo(serviceId: string): string[] {
    return groupIdsOf(serviceId).map((id) => this.#groupNames.get(id)!)
  }
}

/** The keys of the variables that a holder already has and those that it gets, read once. */
function keysOf(
  known: Map<string, ReadonlySet<string>>,
  name: string,
  id: string | undefined,
  wanted: readonly { key: string }[],
): ReadonlySet<string> {
  const found = known.get(name)
  if (found) return found
  const keys = new Set([...(id === undefined ? [] : readSealed(id)), ...wanted].map(({ key }) => key))
  known.set(name, keys)
  return keys
}

function checkLinks({ groups = [], fields, node }: WantedService, index: Index, faults: Faults): void {
  for (const [at, group] of groups.entries())
    if (!index.hasGroup(group))
      faults.add(placeIn(node, ['env_groups', at]), `there is no env group ${group}`)
  const { registry_credential } = fields
  if (typeof registry_credential === 'string' && !index.standing.credentials.has(registry_credential))
    faults.add(
      placeIn(node, ['registry_credential']),
      `there is no registry credential ${registry_credential}`,
    )
}

/** What is wrong with a reference, or null. */
function referenceFault(
  reference: Reference,
  { environment, name: holder }: Pick<Holder, 'environment' | 'name'>,
  index: Index,
): string | null {
  const { standing, services, datastores, unread } = index
  const { kind, name, key } = reference
  // The contents of an unknown environment are unknown too.
  if (unread.has(name) || environment === UNNAMED) return null
  const target = keyOf(environment, name)
  const written = writeReference(reference)
  if (kind === 'datastore') {
    const there = standing.datastore(environment, name)
    if (!there && !datastores.has(target))
      return `${written}: there is no datastore ${name} in ${environment}; ${ESCAPE_HINT}`
    const { label, hasDatabases } = KINDS[there?.kind ?? datastores.get(target) ?? 'relational']
    const has = hasDatabases || reference.property !== 'database'
    return has ? null : `${written} is missing: a ${label} has no ${reference.property}`
  }
  const wanted = services.get(target)
  const there = standing.service(environment, name)
  if (!wanted && !there) return `${written}: there is no service ${name} in ${environment}; ${ESCAPE_HINT}`
  if (name === holder)
    return `${written} is the service itself, which may not refer to itself; ${ESCAPE_HINT}`
  if (key !== null)
    return index.keysOf(environment, name).has(key)
      ? null
      : `${written}: service ${name} has no variable ${key} of its own`
  if (wanted?.wrong.has('type')) return null
  const type = TYPES[there?.type ?? wanted?.type ?? 'web_service']
  const has = reference.property === 'url' ? type.hasHosts : type.listens
  return has ? null : `${written} is missing: ${type.label} has no ${reference.property}`
}

function firstOf<T, R>(items: readonly T[], look: (item: T) => R | null): R | null {
  for (const item of items) {
    const found = look(item)
    if (found !== null) return found
  }
  return null
}
