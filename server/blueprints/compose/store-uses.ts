import { KINDS } from '../../datastores/kinds.ts'
import { warn, type Notes } from '../foreign.ts'
import type { Node } from '../nodes.ts'
import { addressesIn, type Address } from './addresses.ts'
import type { ComposeVariable } from './environment.ts'
import type { ComposeProgram } from './file.ts'
import { markedIn, writtenIn } from './interpolation.ts'
import type { Roles } from './roles.ts'
import { DATABASE_KEYS, PASSWORD_KEYS, USER_KEYS, type ComposeStore } from './stores.ts'

type Property = 'password' | 'username' | 'database' | 'port'

/** A variable that names the host of a database, by itself or in an address. */
interface Use {
  store: ComposeStore
  key: string
  stem: readonly string[]
  node: Node
}

/** The databases that a service connects to, and which of its variables belong to which database. */
export class StoreUses {
  readonly #uses: readonly Use[]
  readonly #stores: readonly ComposeStore[]
  /** Databases whose password the service gets, and those that it was warned about. */
  readonly #unlocked = new Set<ComposeStore>()

  constructor({ variables }: ComposeProgram, roles: Roles) {
    this.#stores = [...roles.stores]
    this.#uses = variables.flatMap(({ key, value, node }) =>
      addressesIn(value ? markedIn(value) : '', roles.file, key).flatMap(({ program }): Use[] => {
        const store = roles.storeOf(program)
        return store ? [{ store, key, stem: stemOf(key), node }] : []
      }),
    )
  }

  /** Records that the service gets the password of a database. */
  unlock(store: ComposeStore): void {
    this.#unlocked.add(store)
  }

  /**
   * Returns the property of a datastore that a variable holds: its value must be that of the file's database, and its name
   * must be related to the variable with that database's host. An equal value alone proves nothing: many passwords are
   * `secret`.
   */
  propertyOf(
    { key, value, node }: ComposeVariable,
    notes: Notes,
  ): { store: ComposeStore; property: Property } | null {
    const property = propertyIn(key)
    const written = value ? writtenIn(value) : ''
    if (property === null || written === '') return null
    const equal = this.#stores.filter((store) => isValueOf(store, property, written))
    const near = nearest(key, this.#stores, this.#uses).filter((store) => equal.includes(store))
    // All datastores of a kind have the same port.
    if (property === 'port') return near.length > 0 && isOneKind(near) ? { store: near[0]!, property } : null
    if (near.length === 1) {
      if (property === 'password') this.unlock(near[0]!)
      return { store: near[0]!, property }
    }
    if (equal.length > 0 && (property === 'password' || near.length > 1))
      warn(
        notes,
        node,
        `${key} has the ${property} of ${listed(equal)}, and no related host variable says which is meant: refer to the datastore by hand`,
      )
    return null
  }

  /** Warns of databases to which the service connects without a password: the datastore requires one. */
  warnOfMissingPasswords(notes: Notes): void {
    for (const { store, key, node } of this.#uses) {
      if (this.#unlocked.has(store)) continue
      this.#unlocked.add(store)
      warn(
        notes,
        node,
        `${key} points to the datastore ${store.name}, which requires a password: give the program \${{datastore.${store.name}.password}}`,
      )
    }
  }
}

/**
 * What a text names of databases that is different here, for a message: a database, a user, or the port of an address that
 * no reference replaced.
 */
export function staleIn(text: string, addresses: readonly Address[], roles: Roles): string[] {
  // One pass over the text, however many databases there are.
  const words = new Set([...(text.match(/[\w-]+/g) ?? []), ...(text.match(/[\w.-]+/g) ?? [])])
  const names = [...roles.stores].flatMap((store) =>
    (['database', 'username'] as const).flatMap((property) => {
      const { there, here } = store[property]
      if (there === null || here === null || there === here || !words.has(there)) return []
      return `${there}, but the ${property} of the datastore ${store.name} is ${here}`
    }),
  )
  const ports = addresses.flatMap(({ program, port }) => {
    const store = roles.storeOf(program)
    const here = store && KINDS[store.kind].port
    return port === null || here === undefined || port === here
      ? []
      : `the port ${port}, but the port of the datastore ${store!.name} is ${here}`
  })
  const given = new Set([...text.matchAll(GIVEN_PASSWORD)].map(([, password]) => password))
  const passwords = [...roles.stores]
    .filter(({ password }) => password !== null && given.has(password))
    .map(({ name }) => `a password that the file gives ${name}, but the datastore ${name} has one of its own`)
  return [...names, ...ports, ...passwords]
}

/** A password among other words, as in `--password=secret` or `-Ddb.password=secret`. */
const GIVEN_PASSWORD = /(?:pass|password|passwd|pwd)["']?[=:\s]["']?([^\s"',;&]+)/gi

function isOneKind(stores: readonly ComposeStore[]): boolean {
  return new Set(stores.map(({ kind }) => kind)).size === 1
}

function listed(stores: readonly ComposeStore[]): string {
  return stores.map(({ name }) => name).join(' and ')
}

/** Whether a value is that of a property of the file's database, and the datastore has another one. */
function isValueOf(store: ComposeStore, property: Property, written: string): boolean {
  if (property === 'password') return store.password === written
  if (property === 'port') return /^\d{1,5}$/.test(written) && Number(written) !== KINDS[store.kind].port
  const { there, here } = store[property]
  return there === written && here !== written
}

/** The property that a variable's name suggests. */
function propertyIn(key: string): Property | null {
  if (/pass|pwd/i.test(key)) return 'password'
  if (/user|login|role/i.test(key)) return 'username'
  // `PORT` alone is the service's own.
  if (/.port$/i.test(key) && !/(?:im|ex|re|sup|trans|pass)port$/i.test(key)) return 'port'
  return /(?:db|database|name)$/i.test(key) && !/host/i.test(key) ? 'database' : null
}

/** The databases whose host variable has the same name as a variable except for the last word; the longest match wins. */
function nearest(key: string, stores: readonly ComposeStore[], uses: readonly Use[]): ComposeStore[] {
  const stem = stemOf(key)
  const ranked = stores.map((store) => {
    const own = uses.filter((use) => use.store === store)
    return { store, rank: Math.max(0, ...own.map((use) => rankOf(key, stem, use))) }
  })
  const best = Math.max(1, ...ranked.map(({ rank }) => rank))
  return ranked.filter(({ rank }) => rank === best).map(({ store }) => store)
}

/** Words that name the kind of a database. */
const KIND_WORDS = {
  relational: ['DB', 'POSTGRES', 'POSTGRESQL', 'PG', 'PSQL', 'SQL'],
  keyvalue: ['REDIS', 'VALKEY', 'KEYDB', 'CACHE', 'KV'],
}
const OWN_SETTINGS = [...PASSWORD_KEYS, ...USER_KEYS, ...DATABASE_KEYS]

/** How closely a variable is related to the one with the host: 0 not at all, 1 only by the kind of the database. */
function rankOf(key: string, stem: readonly string[], { store, stem: host }: Use): number {
  const isUnderHost = host.every((word, at) => stem[at] === word) && (host.length > 0 || stem.length === 0)
  if (isUnderHost) return host.length + 2
  const { kind, program } = store
  const known = [...KIND_WORDS[kind], ...wordsOf(program.name)]
  const isOfKind = stem.length > 0 && stem.every((word) => known.includes(word))
  return isOfKind || OWN_SETTINGS.includes(key) ? 1 : 0
}

/** The last word of a variable's name, after the part that related variables share. */
const LAST_WORD =
  /_?(?:HOSTNAME|HOST|SERVER|ADDRESS|ADDR|ENDPOINT|URL|URI|DSN|PASSWORD|PASSWD|PASS|PWD|USERNAME|USER|LOGIN|ROLE|DATABASE|DB|NAME|PORT)$/

/** The part of a name that related variables share: `DB` for `DB_PASSWORD`, `PG` for `PGHOST`, empty for `PASSWORD`. */
function stemOf(key: string): string[] {
  const upper = key.replaceAll(/([a-z])([A-Z])/g, '$1_$2').toUpperCase()
  return wordsOf(upper.replace(LAST_WORD, ''))
}

function wordsOf(name: string): string[] {
  return name
    .toUpperCase()
    .split(/[^A-Z0-9]+/)
    .filter((word) => word !== '')
    .map((word) => (word === 'DATABASE' ? 'DB' : word))
}
