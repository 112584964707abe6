import { literalAt, mappingAt, scalarAt } from './builder.ts'
import { nearestName, warn, type ForeignMapping, type Notes } from './foreign.ts'
import type { Node, ScalarNode } from './nodes.ts'
import type { RenderNames } from './render-names.ts'

/** What Render's properties of a database and of a service are called here. */
const DATASTORE_PROPERTIES: Record<string, string> = {
  connectionString: 'url',
  connectionPoolString: 'url',
  host: 'host',
  port: 'port',
  user: 'username',
  password: 'password',
  database: 'database',
}
const SERVICE_PROPERTIES: Record<string, string> = {
  host: 'host',
  port: 'port',
  hostport: 'hostport',
  connectionString: 'url',
}

/** Reads a list of variables; those of a group are the name of an env group. */
export function renderVariables(
  entries: readonly ForeignMapping[],
  names: RenderNames,
  notes: Notes,
): { variables: Node[]; groups: Node[] } {
  const variables: Node[] = []
  const groups: Node[] = []
  for (const entry of entries) {
    const group = entry.scalar('fromGroup')
    if (group) groups.push(scalarAt(group.place, names.groupName(group.text)))
    else variables.push(readVariable(entry, names, notes))
    entry.end({ previewValue: 'there are no preview environments here: it is left out' })
  }
  return { variables, groups }
}

function readVariable(entry: ForeignMapping, names: RenderNames, notes: Notes): Node {
  const { place } = entry.node
  const key = entry.scalar('key')
  const value = entry.node.entries.get('value')
  const given = entry.take('value')
  const isGenerated = entry.scalar('generateValue')?.value === true
  const sync = entry.scalar('sync')
  const source = readSource(entry, names, notes)
  const isKept = sync?.value === false && !given
  return mappingAt(place, {
    key: key && scalarAt(key.place, key.text),
    ...(isGenerated
      ? { generate: scalarAt(place, true) }
      : isKept
        ? { sync: scalarAt(sync.place, false) }
        : (source ?? { value: literal(value) })),
  })
}

function literal(value: Node | undefined): Node | undefined {
  if (value?.kind !== 'scalar') return value
  return literalAt(value.place, value.text)
}

function readSource(
  entry: ForeignMapping,
  names: RenderNames,
  notes: Notes,
): Record<string, Node> | undefined {
  const database = entry.mapping('fromDatabase')
  if (database) return { from_datastore: readTarget(database, DATASTORE_PROPERTIES, notes) }
  const service = entry.mapping('fromService')
  if (!service) return undefined
  service.take('type')
  const name = nearestName(service.text('name') ?? '')
  const variable = service.scalar('envVarKey')
  if (names.isStore(name)) return { from_datastore: readTarget(service, DATASTORE_PROPERTIES, notes) }
  if (!variable) return { from_service: readTarget(service, SERVICE_PROPERTIES, notes) }
  return {
    from_service: mappingAt(service.node.place, {
      name: nameOf(service),
      env_var: scalarAt(variable.place, variable.text),
    }),
  }
}

function readTarget(target: ForeignMapping, properties: Record<string, string>, notes: Notes): Node {
  const property = target.scalar('property')
  const known = property && properties[property.text]
  if (property && known === undefined)
    notes.faults.add(property.place, `must be one of ${Object.keys(properties).join(', ')}`)
  if (property?.text === 'connectionPoolString') warn(notes, property, 'there is no pool here: it is the url')
  target.take('type')
  const node = mappingAt(target.node.place, {
    name: nameOf(target),
    property: property && scalarAt(property.place, known ?? 'host'),
  })
  target.end()
  return node
}

function nameOf(target: ForeignMapping): ScalarNode | undefined {
  const name = target.scalar('name')
  return name && scalarAt(name.place, nearestName(name.text))
}
