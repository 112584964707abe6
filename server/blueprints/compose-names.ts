import type { DatastoreKind } from '../datastores/kinds.ts'
import { mappingAt, scalarAt } from './builder.ts'
import { interpolate, readEnvironment } from './compose-environment.ts'
import { lookUp, nearestName, warn, type ForeignMapping, type Notes } from './foreign.ts'
import { isNothing, type MappingNode, type Node } from './nodes.ts'

/** Images whose program is a datastore here, by the last part of their path. */
const STORE_IMAGES: Record<string, DatastoreKind> = {
  postgres: 'relational',
  postgresql: 'relational',
  redis: 'keyvalue',
  valkey: 'keyvalue',
  keydb: 'keyvalue',
}
/** Under these paths the tags are those of the images that are used here. */
const OFFICIAL = /^(?:docker\.io\/)?(?:library\/)?(?:postgres|valkey\/valkey)$/

export interface ComposeProgram {
  name: string
  mapping: ForeignMapping
}

/** A database of a file of Compose. */
export interface ComposeStore {
  name: string
  /** The property that a variable of others has of it: they were told what it was told itself. */
  propertyOf(key: string, written: string): string | null
  entry(): Node
}

/** What the services of a file are called here, and which of them are datastores. */
export class ComposeNames {
  readonly #names = new Map<string, string>()
  readonly #stores = new Map<string, ComposeStore>()
  readonly #dependedOn = new Set<string>()
  /** By what else a service is reached there, and what it is called here. */
  readonly #aliases = new Map<string, string>()
  /** Whether something is built and not pulled. */
  readonly builds: boolean

  constructor(programs: readonly ComposeProgram[], notes: Notes) {
    this.builds = programs.some(({ mapping }) => !isNothing(mapping.node.entries.get('build')))
    const taken = new Set(programs.map(({ name }) => name))
    for (const { name, mapping } of programs) {
      const here = nearestName(name)
      if (here !== name)
        warn(notes, mapping.node, `is named ${here} here, and so in the variables that name it`)
      this.#names.set(name, here)
      for (const alias of aliasesOf(name, mapping.node))
        if (alias !== here && (alias === name || !taken.has(alias))) this.#aliases.set(alias, here)
      for (const other of dependenciesOf(mapping.node)) this.#dependedOn.add(other)
      const store = readStore(here, mapping, notes)
      if (store) this.#stores.set(name, store)
    }
  }

  /** The datastore that a host is. */
  storeAt(host: string): ComposeStore | undefined {
    const here = this.#aliases.get(host) ?? host
    return [...this.#stores.values()].find(({ name }) => name === here)
  }

  /** A variable's text in which hosts are called as they are here, and which of them were not. */
  renameHosts(key: string, text: string): { text: string; renamed: string[] } {
    const renamed: string[] = []
    const written = text.replaceAll(HOSTS, (whole, before: string, host: string, at: number) => {
      const here = this.#aliases.get(host)
      const isAddress = before.endsWith('//') || before === '@' || /^:\d/.test(text.slice(at + whole.length))
      if (here === undefined || !(isAddress || HOST_KEY.test(key))) return whole
      renamed.push(`${host} is ${here}`)
      return `${before}${here}`
    })
    return { text: written, renamed: [...new Set(renamed)] }
  }

  nameOf(name: string): string {
    return this.#names.get(name) ?? name
  }

  store(name: string): ComposeStore | undefined {
    return this.#stores.get(name)
  }

  get stores(): Iterable<ComposeStore> {
    return this.#stores.values()
  }

  /** Whether others wait for it, and so likely connect to it. */
  isDependedOn(name: string): boolean {
    return this.#dependedOn.has(name)
  }
}

/** What may be a host in a text: behind a scheme, behind a user, or in a list. */
const HOSTS = /(^|\/\/|[@,\s])([A-Za-z0-9][\w.-]*)(?=[:/?,\s]|$)/g
/** A variable whose value is a host where it stands alone. */
const HOST_KEY = /host|addr|server|url|uri|endpoint|broker|upstream|proxy|nodes/i

/** By what others reach a service: its name, that of its container, and what its networks call it (docs.docker.com, "Networking in Compose"). */
function aliasesOf(name: string, { entries }: MappingNode): string[] {
  const text = (node: Node | undefined) => (node?.kind === 'scalar' ? [interpolate(node.text).text] : [])
  const networks = entries.get('networks')
  const inNetworks = networks?.kind === 'mapping' ? [...networks.entries.values()] : []
  const listed = inNetworks.flatMap((network) => {
    const aliases = network.kind === 'mapping' ? network.entries.get('aliases') : undefined
    return aliases?.kind === 'list' ? aliases.items.flatMap(text) : []
  })
  return [name, ...text(entries.get('container_name')), ...listed]
}

function dependenciesOf({ entries }: MappingNode): string[] {
  const node = entries.get('depends_on')
  if (node?.kind === 'mapping') return [...node.entries.keys()]
  return node?.kind === 'list'
    ? node.items.flatMap((item) => (item.kind === 'scalar' ? [item.text] : []))
    : []
}

function readStore(name: string, program: ForeignMapping, notes: Notes): ComposeStore | null {
  const image = program.node.entries.get('image')
  if (image?.kind !== 'scalar') return null
  const [path, tag] = splitTag(interpolate(image.text).text)
  const kind = lookUp(STORE_IMAGES, path.split('/').at(-1) ?? '')
  if (!kind) return null
  const { place } = program.node
  const written = new Map(
    readEnvironment(program, notes).flatMap((variable) =>
      variable.written === null ? [] : [[variable.key, variable.written]],
    ),
  )
  const given = (...keys: string[]) =>
    keys.map((key) => written.get(key)).find((value) => value !== undefined)
  const isRelational = kind === 'relational'
  const username = isRelational ? given('POSTGRES_USER', 'POSTGRESQL_USERNAME') : undefined
  const database = isRelational ? (given('POSTGRES_DB', 'POSTGRESQL_DATABASE') ?? username) : undefined
  const password = given('POSTGRES_PASSWORD', 'POSTGRESQL_PASSWORD', 'REDIS_PASSWORD')
  const text = (value: string | undefined) => (value === undefined ? undefined : scalarAt(place, value))
  warn(notes, program.node, `becomes the datastore ${name}, with a password of its own and no data yet`)
  return {
    name,
    propertyOf: (key, value) => {
      if (password !== undefined && password !== '' && value === password && /pass|pwd/i.test(key))
        return 'password'
      // Without a setting the image makes a user postgres, and a database of the user's name.
      if (isRelational && username === undefined && value === 'postgres' && /user/i.test(key))
        return 'username'
      const isUnnamed = isRelational && database === undefined
      return isUnnamed && value === 'postgres' && /db|database/i.test(key) && !/host|type/i.test(key)
        ? 'database'
        : null
    },
    entry: () =>
      mappingAt(place, {
        name: scalarAt(place, name),
        kind: scalarAt(place, kind),
        version: OFFICIAL.test(path) && tag !== 'latest' ? text(tag) : undefined,
        database: text(identifier(database)),
        username: text(identifier(username)),
      }),
  }
}

/** A name that PostgreSQL takes without quotes; none for what comes from outside of the file. */
function identifier(name: string | undefined): string | undefined {
  const { text, missing } = interpolate(name ?? '')
  if (text === '' || missing.length > 0) return undefined
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]/g, '_')
    .replace(/^(?=\d|pg_)/, '_')
}

function splitTag(image: string): [path: string, tag: string | undefined] {
  const [, path, tag] = /^([^@]*?)(?::([^:/@]+))?(?:@[^@]+)?$/.exec(image) ?? []
  return [path ?? image, tag]
}
