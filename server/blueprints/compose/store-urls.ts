import { KINDS } from '../../datastores/kinds.ts'
import { warn, type Notes } from '../foreign.ts'
import type { ComposeVariable } from './environment.ts'
import { markedIn } from './interpolation.ts'
import type { Roles } from './roles.ts'
import {
  isOwnDatabase,
  readPairs,
  referenceTo,
  warnOfDatabase,
  type Part,
  type WithUrls,
} from './store-pairs.ts'
import type { ComposeStore } from './stores.ts'

/** An address: scheme, user, password, host, port, path, query; several schemes may precede one (`jdbc:postgresql`). */
const URL_PATTERN =
  /(?<![\w+.:-])((?:[A-Za-z][\w+.-]*:)+)\/\/(?:([^\s:@/?#]*)(?::([^\s@/]*))?@)?([A-Za-z0-9][\w.-]*)(?::(\d+))?(\/[^\s?#,;"']*)?(\?[^\s#"']*)?/g

/** Reads a value that contains addresses of databases, or the pairs of one; null if it contains none. */
export function readUrls({ key, value, node }: ComposeVariable, roles: Roles, notes: Notes): WithUrls | null {
  const text = value ? markedIn(value) : ''
  const found: WithUrls = { whole: null, parts: [], unlocked: [] }
  let from = 0
  for (const match of text.matchAll(URL_PATTERN)) {
    const [whole, scheme = '', user, password, host = '', port, path = '', query = ''] = match
    const program = roles.file.at(host)
    const store = program && roles.storeOf(program)
    if (!store) continue
    const url = { scheme: scheme.slice(0, -1), user, password, port, path, query }
    if (whole === text && isOwnUrl(url, store)) {
      warn(notes, node, `${key} is the url of the datastore ${store.name} here`)
      return { whole: store, parts: [], unlocked: [store] }
    }
    warn(notes, node, `${key} points to the datastore ${store.name} here`)
    const warnOf = (name: string) => warnOfDatabase({ key, node }, name, store, notes)
    found.parts.push({ text: text.slice(from, match.index) }, ...partsOf(url, store, found, warnOf))
    from = match.index + whole.length
  }
  if (from === 0) return readPairs({ key, value, node }, roles, notes)
  found.parts.push({ text: text.slice(from) })
  return found
}

interface Url {
  scheme: string
  user: string | undefined
  password: string | undefined
  port: string | undefined
  path: string
  query: string
}

/** Schemes that the URL of a datastore can replace: libpq's two mean the same (manual, "Connection URIs"). */
const OWN_SCHEMES = { relational: ['postgresql', 'postgres'], keyvalue: ['redis'] }

function isOwnUrl({ scheme, user, path, query }: Url, store: ComposeStore): boolean {
  if (!OWN_SCHEMES[store.kind].includes(scheme) || query !== '') return false
  // Database 0 is the default.
  if (store.kind === 'keyvalue') return path === '' || path === '/' || path === '/0'
  return user !== undefined && isOwnDatabase(decoded(path.slice(1)), store)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Keeps an address as it is, except for what differs here: those parts become references to the datastore. */
function partsOf(
  { scheme, user, password, port, path, query }: Url,
  store: ComposeStore,
  found: WithUrls,
  warnOf: (name: string) => void,
): Part[] {
  const ref = (property: string): Part => referenceTo(store, property)
  // The file's key-value store may have no password, but the datastore always does.
  const needsPassword = password !== undefined || (store.kind === 'keyvalue' && user === undefined)
  const login = [
    ...(user === '' ? [] : [ref('username')]),
    ...(needsPassword ? [{ text: ':' }, ref('password')] : []),
    { text: '@' },
  ]
  if (needsPassword) found.unlocked.push(store)
  const hasDatabase = KINDS[store.kind].hasDatabases && path.length > 1
  const isOwn = hasDatabase && isOwnDatabase(decoded(path.slice(1)), store)
  if (hasDatabase && !isOwn) warnOf(path.slice(1))
  return [
    { text: `${scheme}://` },
    ...(user !== undefined || needsPassword ? login : []),
    ref('host'),
    ...(port === undefined ? [] : [{ text: ':' }, ref('port')]),
    ...(isOwn ? [{ text: '/' }, ref('database')] : [{ text: path }]),
    ...queryParts(query, store, found),
  ]
}

/** Credentials in a query such as `?user=app&password=secret`, as JDBC uses them. */
const LOGIN_PARAMETER = /([?&](user(?:name)?|password)=)([^&]*)/g

function queryParts(query: string, store: ComposeStore, found: WithUrls): Part[] {
  const parts: Part[] = []
  let from = 0
  for (const match of query.matchAll(LOGIN_PARAMETER)) {
    const [whole, before = '', name = ''] = match
    const property = name === 'password' ? 'password' : 'username'
    if (property === 'password') found.unlocked.push(store)
    parts.push({ text: query.slice(from, match.index) + before }, referenceTo(store, property))
    from = match.index + whole.length
  }
  return [...parts, { text: query.slice(from) }]
}
