import { KINDS } from '../datastores/kinds.ts'
import { settingFaults } from '../services/settings.ts'
import type { ServiceColumns } from '../services/store.ts'
import { SERVICE_TYPES, type ServiceType } from '../services/types.ts'
import { keyFault, valueFault } from '../variables/rules.ts'
import { wantedColumns } from './defaults.ts'
import type { Faults } from './faults.ts'
import { placeIn } from './nodes.ts'
import {
  keyOf,
  UNNAMED,
  type Project,
  type WantedDatastore,
  type WantedFile,
  type WantedService,
  type WantedVariable,
} from './project.ts'

/** Finds what is wrong with a project in itself, whatever exists on the server. */
export function checkFile(project: Project, faults: Faults): void {
  checkNames(project, faults)
  for (const { variables, files } of [...project.groups, ...project.services]) {
    checkVariables(variables, faults)
    checkFiles(files, faults)
  }
  for (const datastore of project.datastores) checkDatabases(datastore, faults)
}

/** Checks the rules between the settings of a service, including those that an existing service already has. */
export function checkSettings(
  wanted: WantedService,
  there: (ServiceColumns & { type: ServiceType }) | undefined,
  faults: Faults,
): void {
  const columns: ServiceColumns = { ...there, ...wantedColumns(wanted, there) }
  const isKnown = there !== undefined || !wanted.wrong.has('type')
  // Without a type that can be read, what is wrong is what would be wrong for any.
  const types = isKnown ? [there?.type ?? wanted.type ?? 'web_service'] : SERVICE_TYPES
  const [first = [], ...others] = types.map((type) => settingFaults(columns, type, wanted.wrong))
  for (const [field, fault] of first)
    if (others.every((found) => found.some(([other]) => other === field)))
      faults.add(placeIn(wanted.node, [field]), fault)
}

/** Services and datastores of an environment share one namespace; env groups have their own. */
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
        `${wanted.name} is already the name of ${other} in this file`,
      )
    seen.set(key, kind)
  }
}

function checkDatabases({ kind, fields, node }: WantedDatastore, faults: Faults): void {
  for (const field of ['database', 'username'])
    if (kind && !KINDS[kind].hasDatabases && typeof fields[field] === 'string')
      faults.add(placeIn(node, [field]), `cannot be chosen for a ${KINDS[kind].label}`)
}

function checkVariables(variables: readonly WantedVariable[], faults: Faults): void {
  const seen = new Set<string>()
  for (const { key, place, from } of variables) {
    const wrong = typeof from === 'string' ? null : valueFault(from.value)
    const fault = keyFault(key) ?? wrong ?? (seen.has(key) ? `${key} is given twice` : null)
    if (fault) faults.add(place, fault)
    seen.add(key)
  }
}

function checkFiles(files: readonly WantedFile[], faults: Faults): void {
  const seen = new Set<string>()
  for (const { name, place } of files) {
    if (seen.has(name)) faults.add(place, `${name} is given twice`)
    seen.add(name)
  }
}
