import { KINDS } from '../../datastores/kinds.ts'
import { writeReference } from '../../variables/references.ts'
import { warn, type Notes } from '../foreign.ts'
import type { ComposeVariable } from './environment.ts'
import { ABSENT, markedIn } from './interpolation.ts'
import type { Roles } from './roles.ts'
import type { ComposeStore } from './stores.ts'

/** A text in which addresses of databases use references. */
export interface WithUrls {
  /** The datastore whose URL is the whole text. */
  whole: ComposeStore | null
  parts: Part[]
  /** The datastores whose password is in the text. */
  unlocked: ComposeStore[]
}

/** Text of the file, or a reference. */
export type Part = { text: string } | { reference: string }

/** A pair of `host=db user=app` (libpq, "Connection Strings") or `Server=db;User Id=app` (Npgsql, "Connection String"). */
const PAIR =
  /(?<![^;,\s"'])(user id|data source|initial catalog|[a-z]+)=(?:'([^']*)'|"([^"]*)"|([^;,\s"']*))/gi

const PROPERTIES: Record<string, string[]> = {
  host: ['host', 'hostname', 'server', 'data source'],
  port: ['port'],
  username: ['user', 'username', 'user id', 'userid', 'uid'],
  password: ['password', 'pwd', 'passwd'],
  database: ['dbname', 'database', 'initial catalog'],
}

interface Pair {
  property: string | undefined
  value: string
  /** Where the value is in the text. */
  from: number
}

/** Reads a value that describes a connection to one database in pairs; null if it does not. */
export function readPairs(
  { key, value, node }: ComposeVariable,
  roles: Roles,
  notes: Notes,
): WithUrls | null {
  const text = value ? markedIn(value) : ''
  const pairs = pairsIn(text)
  const hosts = pairs.filter(({ property }) => property === 'host')
  const program = hosts.length === 1 ? roles.file.at(hosts[0]!.value) : undefined
  const store = program && roles.storeOf(program)
  if (!store || pairs.length < 2) return null
  warn(notes, node, `${key} points to the datastore ${store.name} here`)
  const found: WithUrls = { whole: null, parts: [], unlocked: [] }
  let at = 0
  for (const { property, value: given, from } of pairs) {
    if (property === undefined) continue
    if (property === 'database' && !isOwnDatabase(given, store)) {
      warnOfDatabase({ key, node }, given, store, notes)
      continue
    }
    if (property === 'password') found.unlocked.push(store)
    found.parts.push({ text: text.slice(at, from) }, referenceTo(store, property))
    at = from + given.length
  }
  found.parts.push({ text: text.slice(at) })
  return found
}

function pairsIn(text: string): Pair[] {
  return [...text.matchAll(PAIR)].map((match) => {
    const [whole, name = '', single, double, bare = ''] = match
    const value = single ?? double ?? bare
    const isQuoted = single !== undefined || double !== undefined
    const property = Object.keys(PROPERTIES).find((known) => PROPERTIES[known]!.includes(name.toLowerCase()))
    return { property, value, from: match.index + whole.length - value.length - (isQuoted ? 1 : 0) }
  })
}

/** Whether a name is that of a store's database, or both come from outside the file. */
export function isOwnDatabase(name: string, { kind, database }: ComposeStore): boolean {
  if (!KINDS[kind].hasDatabases) return false
  return name === database.there || (name === ABSENT && database.here === null)
}

export function warnOfDatabase(
  { key, node }: Pick<ComposeVariable, 'key' | 'node'>,
  name: string,
  store: ComposeStore,
  notes: Notes,
): void {
  warn(
    notes,
    node,
    `${key} names the database ${name.replaceAll(ABSENT, '')}, which the datastore ${store.name} does not have: add a datastore for it`,
  )
}

export function referenceTo({ name }: ComposeStore, property: string): Part {
  return { reference: writeReference({ kind: 'datastore', name, property, key: null }) }
}
