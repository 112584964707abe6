import { DEFAULT_PORT } from '../services/ports.ts'
import { keyFault } from '../variables/rules.ts'
import { literalAt, mappingAt, scalarAt } from './builder.ts'
import { lookUp, nearestName, warn, type ForeignMapping, type Notes } from './foreign.ts'
import type { Place } from './faults.ts'
import type { Node, ScalarNode } from './nodes.ts'
import type { RenderNames } from './render-names.ts'

/** The names here of Render's properties of databases and services. */
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

/** Variables that Render sets itself (render.com/docs/environment-variables), and their names here. */
const OWN_VARIABLES: Record<string, string> = {
  RENDER: 'DEPLOYER',
  RENDER_EXTERNAL_HOSTNAME: 'DEPLOYER_EXTERNAL_HOSTNAME',
  RENDER_EXTERNAL_URL: 'DEPLOYER_EXTERNAL_URL',
  RENDER_GIT_BRANCH: 'DEPLOYER_GIT_BRANCH',
  RENDER_GIT_COMMIT: 'DEPLOYER_GIT_COMMIT',
  RENDER_INSTANCE_ID: 'DEPLOYER_INSTANCE_ID',
  RENDER_SERVICE_ID: 'DEPLOYER_SERVICE_ID',
  RENDER_SERVICE_NAME: 'DEPLOYER_SERVICE_NAME',
  RENDER_SERVICE_TYPE: 'DEPLOYER_SERVICE_TYPE',
}
/** Those that correspond to properties when they belong to another service. */
const AS_PROPERTIES: Record<string, string> = { RENDER_EXTERNAL_URL: 'url', RENDER_SERVICE_NAME: 'host' }
/** One of Render's variables in a command. */
const MENTION = /\$\{?(RENDER(?:_[A-Z0-9_]+)?)\b/g

/** A service or group of the file whose variables are read. */
export interface Holder {
  /** Its name here; null for a group. */
  name: string | null
  /** Whether it has a public address. */
  hasUrl: boolean
  entries: readonly ForeignMapping[]
}

/** Reads a list of variables; an entry that refers to a group becomes the name of an env group. */
export function renderVariables(
  holder: Holder,
  names: RenderNames,
  notes: Notes,
): { variables: Node[]; groups: Node[] } {
  const variables: Node[] = []
  const groups: Node[] = []
  for (const entry of holder.entries) {
    const group = entry.scalar('fromGroup')
    const key = entry.scalar('key')
    const fault = key && keyFault(key.text)
    if (group) groups.push(scalarAt(group.place, names.groupName(group.text)))
    else if (key && fault) warn(notes, key, `${key.text} is left out: ${fault}`)
    else variables.push(new VariableEntry(entry, holder, names, notes).read())
    for (const field of ['displayName', 'description', 'sensitive']) entry.take(field)
    if (!fault) entry.end({ previewValue: 'there are no preview environments here: it is left out' })
  }
  return { variables, groups }
}

/** Warns of Render's variables in a command, except those that the service sets itself. */
export function warnOfMentions(command: ScalarNode | undefined, { entries }: Holder, notes: Notes): void {
  if (!command) return
  const own = new Set(entries.map((entry) => entry.text('key')))
  for (const [, name] of command.text.matchAll(MENTION)) {
    if (own.has(name)) continue
    const here = lookUp(OWN_VARIABLES, name!)
    warn(notes, command, here ? `${name} is ${here} here` : `${name} is not set here`)
  }
}

/** Converts one variable to an entry of the native dialect. */
class VariableEntry {
  readonly #entry: ForeignMapping
  readonly #holder: Holder
  readonly #names: RenderNames
  readonly #notes: Notes
  readonly #key: ScalarNode | undefined

  constructor(entry: ForeignMapping, holder: Holder, names: RenderNames, notes: Notes) {
    this.#entry = entry
    this.#holder = holder
    this.#names = names
    this.#notes = notes
    this.#key = entry.scalar('key')
  }

  read(): Node {
    const { place } = this.#entry.node
    return mappingAt(place, {
      key: this.#key && scalarAt(this.#key.place, this.#key.text),
      ...this.#source(),
    })
  }

  #source(): Record<string, Node | undefined> {
    const value = this.#entry.node.entries.get('value')
    const given = this.#entry.take('value')
    const isGenerated = this.#entry.scalar('generateValue')?.value === true
    const sync = this.#entry.scalar('sync')
    const database = this.#entry.mapping('fromDatabase')
    const service = this.#entry.mapping('fromService')
    if (isGenerated) return { generate: scalarAt(this.#entry.node.place, true) }
    if (given) return { value: literal(given) }
    if (database) return this.#ofStore(database, this.#names.databaseName(database.text('name') ?? ''))
    if (service) return this.#ofService(service)
    if (sync) return { sync: scalarAt(sync.place, false) }
    // `value:` with nothing after it is an empty text; null, or a key without a value, means that people have to set it.
    return value && hasValue(value) ? { value: literal(value) } : this.#byHand('has no value: set it by hand')
  }

  /** Leaves the variable to be set by hand, with a warning that says why. */
  #byHand(why: string): Record<string, Node> {
    warn(this.#notes, this.#key ?? this.#entry.node, `${this.#key?.text ?? ''} ${why}`)
    return { sync: scalarAt(this.#entry.node.place, false) }
  }

  #ofStore(target: ForeignMapping, name: string): Record<string, Node> {
    const { place } = target.node
    const property = target.scalar('property')
    target.take('name')
    target.take('type')
    target.end()
    if (property?.text === 'hostport')
      return {
        value: scalarAt(property.place, `\${{datastore.${name}.host}}:\${{datastore.${name}.port}}`),
      }
    if (property?.text === 'connectionPoolString')
      warn(this.#notes, property, 'there is no connection pool here: the url is used')
    return {
      from_datastore: mappingAt(place, {
        name: target.node.entries.has('name')
          ? scalarAt(target.node.entries.get('name')!.place, name)
          : undefined,
        property: this.#property(property, DATASTORE_PROPERTIES),
      }),
    }
  }

  #ofService(target: ForeignMapping): Record<string, Node> {
    const given = target.scalar('name')
    const name = nearestName(given?.text ?? '')
    const type = target.scalar('type')?.text
    if (this.#names.isStore(name) || type === 'redis' || type === 'keyvalue')
      return this.#ofStore(target, name)
    const property = target.scalar('property')
    const key = target.scalar('envVarKey')
    target.end()
    if (this.#names.isLeftOut(name))
      return this.#byHand(`refers to ${name}, which is left out: set it by hand`)
    if (given && name === this.#holder.name) return this.#ofItself(property, key)
    const { place } = target.node
    if (key && !this.#names.hasOwn(name, key.text)) {
      const here = lookUp(AS_PROPERTIES, key.text)
      if (here) return fromService(place, given, { property: scalarAt(key.place, here) })
      if (key.text.startsWith('RENDER_'))
        return this.#byHand(`is ${key.text} of ${name}, which no variable may refer to here: set it by hand`)
      if (this.#names.hasOfGroup(name, key.text))
        return this.#byHand(
          `is ${key.text} of ${name}, which gets it from an env group: link that group, or set it by hand`,
        )
    }
    return fromService(place, given, {
      env_var: key && scalarAt(key.place, key.text),
      property: key ? undefined : this.#property(property, SERVICE_PROPERTIES),
    })
  }

  /** A variable must not refer to its own service, so what is known is written out. */
  #ofItself(property: ScalarNode | undefined, key: ScalarNode | undefined): Record<string, Node> {
    const name = this.#holder.name!
    const place = this.#entry.node.place
    const port = this.#literalOf('PORT')?.text ?? String(DEFAULT_PORT)
    if (key) {
      const other = this.#literalOf(key.text)
      if (other) return { value: literalAt(place, other.text) }
      const here = lookUp(OWN_VARIABLES, key.text)
      if (key.text === 'RENDER_EXTERNAL_URL' && this.#holder.hasUrl) return this.#ownUrl()
      return this.#byHand(
        here
          ? `is the service's own ${key.text}: its program has that as ${here}, or set it by hand`
          : `is the service's own ${key.text}, which no variable may refer to: set it by hand`,
      )
    }
    if (property?.text === 'port') return { value: literalAt(place, port) }
    if (property?.text === 'connectionString')
      return this.#holder.hasUrl
        ? this.#ownUrl()
        : this.#byHand("is the service's own address, which no variable may refer to: set it by hand")
    return { value: literalAt(place, property?.text === 'host' ? name : `${name}:${port}`) }
  }

  #ownUrl(): Record<string, Node> {
    const key = this.#key?.text ?? ''
    warn(
      this.#notes,
      this.#key ?? this.#entry.node,
      `${key} is the service's own address at the time the file is applied: DEPLOYER_EXTERNAL_URL follows domain changes`,
    )
    const { place } = this.#entry.node
    return fromService(place, scalarAt(place, this.#holder.name), { property: scalarAt(place, 'url') })
  }

  /** The literal value of another variable of the same service in the file. */
  #literalOf(key: string): ScalarNode | undefined {
    const value = this.#holder.entries.find((entry) => entry.text('key') === key)?.node.entries.get('value')
    return value?.kind === 'scalar' && hasValue(value) ? value : undefined
  }

  #property(property: ScalarNode | undefined, known: Record<string, string>): ScalarNode | undefined {
    if (!property) return undefined
    const here = lookUp(known, property.text)
    if (here === undefined)
      this.#notes.faults.add(property.place, `must be one of ${Object.keys(known).join(', ')}`)
    return scalarAt(property.place, here ?? 'host')
  }
}

function fromService(
  place: Place,
  name: ScalarNode | undefined,
  fields: Record<string, Node | undefined>,
): Record<string, Node> {
  return {
    from_service: mappingAt(place, { name: name && scalarAt(name.place, nearestName(name.text)), ...fields }),
  }
}

/** Whether there is a value. A word for null is not one, while an empty value is an empty text. */
function hasValue(value: Node): boolean {
  return value.kind !== 'scalar' || value.value !== null || value.text === ''
}

function literal(value: Node): Node {
  return value.kind === 'scalar' ? literalAt(value.place, value.text) : value
}
