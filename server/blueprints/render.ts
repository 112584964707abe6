import { postgresName } from '../datastores/postgres-names.ts'
import { mappingAt, scalarAt, someAt } from './builder.ts'
import { ForeignMapping, nearestName, warn, type Notes } from './foreign.ts'
import type { MappingNode, Node } from './nodes.ts'
import type { OwnRepository } from './project.ts'
import { isLeftOut, isStore, RenderNames } from './render-names.ts'
import { renderService } from './render-services.ts'
import { renderVariables } from './render-variables.ts'

/** A file of the native dialect and its environment; null is the environment that the caller names. */
export interface NativeFile {
  node: MappingNode
  environment: string | null
}

const NO_PREVIEWS = 'there are no preview environments here: it is left out'
const WITHOUT_COUNTERPART = {
  previewsEnabled: NO_PREVIEWS,
  previewsExpireAfterDays: NO_PREVIEWS,
  previews: NO_PREVIEWS,
  version: 'is the version of the format and is left out',
}

/** Reads Render's `render.yaml` (render.com/docs/blueprint-spec) as files of the native dialect, one per environment. */
export function readRender(root: MappingNode, own: OwnRepository | null, notes: Notes): NativeFile[] {
  const file = new ForeignMapping(root, notes)
  const groups = new Set<string>()
  const readPlace = (holder: ForeignMapping, environment: string | null) =>
    readLists(holder, environment, own, groups, notes)
  const files = [readPlace(file, null)]
  const ungrouped = file.mapping('ungrouped')
  if (ungrouped) {
    files.push(readPlace(ungrouped, null))
    ungrouped.end(WITHOUT_COUNTERPART)
  }
  const taken = new Set<string>()
  for (const project of file.mappings('projects')) {
    const projectName = project.text('name')
    for (const environment of project.mappings('environments')) {
      const name = nearestName(environment.text('name') ?? '')
      if (taken.has(name))
        notes.faults.add(
          environment.node.place,
          `two projects have an environment ${name}, and here they would be the same one`,
        )
      taken.add(name)
      files.push(readPlace(environment, name))
      environment.end({
        networking: 'every environment is a network of its own here',
        permissions: 'everybody who signs in here may change everything: it is left out',
      })
    }
    if (projectName !== undefined)
      warn(
        notes,
        project.node,
        `there are no projects here: the environments of ${projectName} are not grouped`,
      )
    project.end()
  }
  file.end(WITHOUT_COUNTERPART)
  return files.filter(({ node }) => node.entries.size > 0)
}

/** Reads the three lists at the top, in an environment, or in `ungrouped`. */
function readLists(
  holder: ForeignMapping,
  environment: string | null,
  own: OwnRepository | null,
  groupNames: Set<string>,
  notes: Notes,
): NativeFile {
  const services = holder.mappings('services')
  const databases = holder.mappings('databases')
  const groups = holder.mappings('envVarGroups')
  const names = new RenderNames({ databases, services, groups }, environment, groupNames, notes)
  for (const service of services.filter(isLeftOut))
    warn(
      notes,
      service.node,
      `there are no services of the type ${service.text('type')} here: it is left out`,
    )
  const stores = services.filter(isStore)
  const programs = services.filter((service) => !isStore(service) && !isLeftOut(service))
  const { place } = holder.node
  return {
    environment,
    node: mappingAt(place, {
      env_groups: someAt(
        place,
        groups.map((group) => readGroup(group, names, notes)),
      ),
      datastores: someAt(place, [
        ...databases.map((database) => readDatabase(database, names, notes)),
        ...stores.map((store) => readStore(store, names)),
      ]),
      services: someAt(
        place,
        programs.map((service) => renderService(service, names, own, notes)),
      ),
    }),
  }
}

const SIZED = 'sizes are set with memory_limit_mb and cpu_limit here: it is left out'
const HERE = 'everything runs on this server: it is left out'
const LOCAL = 'datastores can only be reached from their environment and this host: it is left out'
const GROWING = 'disks grow with their contents here'
const STORE_FIELDS = {
  plan: SIZED,
  region: HERE,
  ipAllowList: LOCAL,
  previewPlan: NO_PREVIEWS,
  previewDiskSizeGB: NO_PREVIEWS,
  diskSizeGB: GROWING,
  storageAutoscalingEnabled: GROWING,
  highAvailability: 'a datastore is one container here: it is left out',
  maxmemoryPolicy: 'a full key-value store refuses writes here and evicts nothing: it is left out',
  persistenceMode: 'a key-value store is always kept on disk here: it is left out',
}

function readGroup(group: ForeignMapping, names: RenderNames, notes: Notes): Node {
  const name = names.nameNode(group)
  const holder = { name: null, hasUrl: false, entries: group.mappings('envVars') }
  const { variables } = renderVariables(holder, names, notes)
  group.end()
  return mappingAt(group.node.place, { name, vars: someAt(group.node.place, variables) })
}

function readDatabase(database: ForeignMapping, names: RenderNames, notes: Notes): Node {
  const { place } = database.node
  const named = (field: string): Node | undefined => {
    const node = database.scalar(field)
    if (node === undefined) return undefined
    const name = postgresName(nearestName(node.text))
    if (name !== node.text) warn(notes, node, `is named ${name} here`)
    return scalarAt(node.place, name)
  }
  const version = database.scalar('postgresMajorVersion')
  const datastore = mappingAt(place, {
    name: names.nameNode(database),
    kind: scalarAt(place, 'relational'),
    version: version && scalarAt(version.place, version.text),
    database: named('databaseName'),
    username: named('user'),
  })
  database.end(STORE_FIELDS)
  return datastore
}

function readStore(store: ForeignMapping, names: RenderNames): Node {
  const { place } = store.node
  const datastore = mappingAt(place, { name: names.nameNode(store), kind: scalarAt(place, 'keyvalue') })
  store.end(STORE_FIELDS)
  return datastore
}
