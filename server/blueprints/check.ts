import { KINDS } from '../datastores/kinds.ts'
import { deployableUrlFault } from '../git/input.ts'
import { hiddenFault } from '../hidden.ts'
import { settingFaults } from '../services/settings.ts'
import type { ServiceColumns } from '../services/store.ts'
import { TYPES } from '../services/types.ts'
import { keyFault, valueFault } from '../variables/rules.ts'
import { checkReferences } from './check-references.ts'
import type { Faults } from './faults.ts'
import { placeIn } from './nodes.ts'
import {
  UNNAMED,
  type Project,
  type WantedDatastore,
  type WantedService,
  type WantedVariable,
} from './project.ts'
import { wantedColumns, wantedPatch } from './settings.ts'
import { keyOf, type Standing } from './standing.ts'

/** Finds all that can be wrong with a project and need not be tried to be known. */
export function checkProject(project: Project, standing: Standing, faults: Faults): void {
  checkNames(project, faults)
  for (const group of project.groups) checkVariables(group.variables, faults)
  for (const datastore of project.datastores) checkDatastore(datastore, standing, faults)
  for (const service of project.services) {
    checkService(service, standing, faults)
    checkVariables(service.variables, faults)
  }
  checkReferences(project, standing, faults)
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
    if (wanted.name === UNNAMED) continue
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
  if (there && kind && there.kind !== kind)
    faults.add(
      placeIn(node, ['kind']),
      `cannot be changed: datastore ${name} is a ${KINDS[there.kind].label}`,
    )
  if (there?.status === 'deleting') faults.add(placeIn(node, ['name']), `datastore ${name} is being deleted`)
  for (const field of ['database', 'username'])
    if (kind && !KINDS[kind].hasDatabases && typeof wanted.fields[field] === 'string')
      faults.add(placeIn(node, [field]), `a ${KINDS[kind].label} has none to choose`)
}

function checkService(wanted: WantedService, standing: Standing, faults: Faults): void {
  const { name, environment, node, type, fields } = wanted
  const datastore = standing.datastore(environment, name)
  if (datastore) faults.add(placeIn(node, ['name']), `${name} is in use by datastore ${datastore.id}`)
  const there = standing.service(environment, name)
  if (there?.deleting) faults.add(placeIn(node, ['name']), `service ${name} is being deleted`)
  if (there && type && type !== there.type)
    faults.add(placeIn(node, ['type']), `cannot be changed: service ${name} is ${TYPES[there.type].label}`)
  const { repo_url } = wantedPatch(fields, there)
  const hidden = typeof repo_url === 'string' ? hiddenFault(repo_url) : null
  if (hidden !== null) faults.add(placeIn(node, ['repo_url']), hidden)
  const repository = typeof fields.repo_url === 'string' ? deployableUrlFault(fields.repo_url) : null
  if (repository !== null) faults.add(placeIn(node, ['repo_url']), repository)
  // Rules between fields are of a type.
  if (wanted.wrong.has('type')) return
  const columns: ServiceColumns = { ...there, ...wantedColumns(wanted, there) }
  for (const [field, fault] of settingFaults(columns, there?.type ?? type ?? 'web_service', wanted.wrong))
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
