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
  /** Whether something is built and not pulled. */
  readonly builds: boolean

  constructor(programs: readonly ComposeProgram[], notes: Notes) {
    this.builds = programs.some(({ mapping }) => !isNothing(mapping.node.entries.get('build')))
    for (const { name, mapping } of programs) {
      const here = nearestName(name)
      if (here !== name)
        warn(notes, mapping.node, `is named ${here} here, which values that name it must say too`)
      this.#names.set(name, here)
      for (const other of dependenciesOf(mapping.node)) this.#dependedOn.add(other)
      const store = readStore(here, mapping, notes)
      if (store) this.#stores.set(name, store)
    }
  }

  nameOf(name: string): string {
    return this.#names.get(name) ?? name
  }

  store(name: string): ComposeStore | undefined {
    return this.#stores.get(name)
  }

  /** Every datastore by the name that others reach it at. */
  get stores(): ReadonlyMap<string, ComposeStore> {
    return this.#stores
  }

  /** Whether others wait for it, and so likely connect to it. */
  isDependedOn(name: string): boolean {
    return this.#dependedOn.has(name)
  }
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
