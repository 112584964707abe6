import { KINDS } from '../datastores/kinds.ts'
import { deployableUrlFault } from '../git/input.ts'
import { settingFaults } from '../services/settings.ts'
import type { ServiceColumns } from '../services/store.ts'
import { TYPES } from '../services/types.ts'
import { ESCAPE_HINT, writeReference, type Reference } from '../variables/references.ts'
import { keyFault, valueFault } from '../variables/rules.ts'
import { readSealed } from '../variables/store.ts'
import type { Faults } from './faults.ts'
import { placeIn } from './nodes.ts'
import type { Project, WantedDatastore, WantedService, WantedVariable } from './project.ts'
import { referencesOf } from './references.ts'
import { wantedColumns } from './settings.ts'
import { keyOf, type Standing } from './standing.ts'

/** Finds all that can be wrong with a project and need not be tried to be known. */
export function checkProject(project: Project, standing: Standing, faults: Faults): void {
  checkNames(project, faults)
  for (const group of project.groups) checkVariables(group.variables, faults)
  for (const datastore of project.datastores) checkDatastore(datastore, standing, faults)
  const index = new Index(project, standing)
  for (const service of project.services) {
    checkService(service, standing, faults)
    checkVariables(service.variables, faults)
    checkLinks(service, index, faults)
    for (const variable of service.variables)
      for (const reference of referencesOf(variable))
        checkReference(reference, variable, service, index, faults)
  }
}

/** Services and datastores of an environment share one space of names, env groups have their own. */
function checkNames({ groups, datastores, services }: Project, faults: Faults): void {
  const seen = new Map<string, string>()
  const all = [
    ...groups.map((group) => ({ wanted: group, key: group.name, kind: 'an env group' })),
    ...[...datastores, ...services].map((wanted) => ({
      wanted,
      key: keyOf(wanted.environment, wanted.name),
      kind: 'kind' in wanted ? 'a datastore' : 'a service',
    })),
  ]
  for (const { wanted, key, kind } of all) {
    const other = seen.get(key)
    if (other !== undefined)
      faults.add(
        placeIn(wanted.node, ['name']),
        `${wanted.name} is the name of ${other} of this file already`,
      )
    seen.set(key, kind)
  }
}

function checkDatastore(wanted: WantedDatastore, standing: Standing, faults: Faults): void {
  const { name, environment, kind, node } = wanted
  const service = standing.service(environment, name)
  if (service) faults.add(placeIn(node, ['name']), `${name} is in use by service ${service.id}`)
  const there = standing.datastore(environment, name)
  if (there && there.kind !== kind)
    faults.add(
      placeIn(node, ['kind']),
      `cannot be changed: datastore ${name} is a ${KINDS[there.kind].label}`,
    )
  if (there?.status === 'deleting') faults.add(placeIn(node, ['name']), `datastore ${name} is being deleted`)
  for (const field of ['database', 'username'])
    if (!KINDS[kind].hasDatabases && typeof wanted.fields[field] === 'string')
      faults.add(placeIn(node, [field]), `a ${KINDS[kind].label} has none to choose`)
}

/** A repository's URL as it is shown, where stored credentials stand as `***`. */
const HIDDEN_CREDENTIALS = '://***@'

function checkService(wanted: WantedService, standing: Standing, faults: Faults): void {
  const { name, environment, node, type, fields } = wanted
  const datastore = standing.datastore(environment, name)
  if (datastore) faults.add(placeIn(node, ['name']), `${name} is in use by datastore ${datastore.id}`)
  const there = standing.service(environment, name)
  if (there?.deleting) faults.add(placeIn(node, ['name']), `service ${name} is being deleted`)
  if (there && type && type !== there.type)
    faults.add(placeIn(node, ['type']), `cannot be changed: service ${name} is ${TYPES[there.type].label}`)
  if (!there && String(fields.repo_url).includes(HIDDEN_CREDENTIALS))
    faults.add(placeIn(node, ['repo_url']), 'has its credentials hidden as ***: write them out')
  const repository = typeof fields.repo_url === 'string' ? deployableUrlFault(fields.repo_url) : null
  if (repository !== null) faults.add(placeIn(node, ['repo_url']), repository)
  // Rules between fields speak of the whole.
  if (wanted.isFaulty) return
  const columns: ServiceColumns = { ...there, ...wantedColumns(wanted, there) }
  for (const [field, fault] of settingFaults(columns, there?.type ?? type ?? 'web_service'))
    faults.add(placeIn(node, [field]), fault)
}

function checkVariables(variables: readonly WantedVariable[], faults: Faults): void {
  const seen = new Set<string>()
  for (const { key, place, from } of variables) {
    const wrong = typeof from === 'string' ? null : valueFault(from.value)
    const fault = keyFault(key) ?? wrong ?? (seen.has(key) ? `${key} stands twice` : null)
    if (fault) faults.add(place, fault)
    seen.add(key)
  }
}

/** What a reference may lead to: what is there, and what the file makes. */
class Index {
  readonly standing: Standing
  readonly services: ReadonlyMap<string, WantedService>
  readonly datastores: ReadonlySet<string>
  readonly groups: ReadonlySet<string>
  readonly unread: ReadonlySet<string>
  readonly #keys = new Map<string, ReadonlySet<string>>()

  constructor(project: Project, standing: Standing) {
    this.standing = standing
    this.services = new Map(
      project.services.map((wanted) => [keyOf(wanted.environment, wanted.name), wanted]),
    )
    this.datastores = new Set(project.datastores.map(({ environment, name }) => keyOf(environment, name)))
    this.groups = new Set(project.groups.map(({ name }) => name))
    this.unread = project.unread
  }

  /** The variables that a service has of its own, or gets by the file. */
  keysOf(environment: string, name: string): ReadonlySet<string> {
    const target = keyOf(environment, name)
    const known = this.#keys.get(target)
    if (known) return known
    const there = this.standing.service(environment, name)
    const kept = there ? readSealed(there.id) : []
    const wanted = this.services.get(target)?.variables ?? []
    const keys = new Set([...kept, ...wanted].map(({ key }) => key))
    this.#keys.set(target, keys)
    return keys
  }
}

function checkLinks({ groups = [], node }: WantedService, index: Index, faults: Faults): void {
  for (const [at, group] of groups.entries()) {
    const isThere = [index.groups, index.unread, index.standing.groups].some((names) => names.has(group))
    const isById = [...index.standing.groups.values()].some(({ id }) => id === group)
    if (!isThere && !isById) faults.add(placeIn(node, ['env_groups', at]), `there is no env group ${group}`)
  }
}

function checkReference(
  reference: Reference,
  { place }: WantedVariable,
  holder: WantedService,
  index: Index,
  faults: Faults,
): void {
  const { standing, services, datastores, unread } = index
  const { kind, name, key } = reference
  if (unread.has(name)) return
  const { environment } = holder
  const target = keyOf(environment, name)
  const written = writeReference(reference)
  if (kind === 'datastore') {
    if (!datastores.has(target) && !standing.datastore(environment, name))
      faults.add(place, `${written}: there is no datastore ${name} in ${environment}; ${ESCAPE_HINT}`)
    return
  }
  if (!services.has(target) && !standing.service(environment, name))
    faults.add(place, `${written}: there is no service ${name} in ${environment}; ${ESCAPE_HINT}`)
  else if (name === holder.name)
    faults.add(place, `${written} is the service itself, which may not refer to itself; ${ESCAPE_HINT}`)
  else if (key !== null && !index.keysOf(environment, name).has(key))
    faults.add(place, `${written}: service ${name} has no variable ${key} of its own`)
}
