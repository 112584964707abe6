import { AppError } from '../errors.ts'
import type { BasicAuthInput } from './input.ts'
import { PasswordHashes, type GivenUser, type KeptUser } from './passwords.ts'
import type { Edge, EdgeDefaults } from './schema.ts'

/** What is kept of `basic_auth`. */
export interface KeptBasicAuth {
  users: KeptUser[]
  except_paths: string[]
}

/** The columns of what a service asks for its requests: JSON of lists and objects, booleans 0 or 1; null is not set. */
export interface EdgeColumns {
  ip_allow_list: string | null
  redirects: string | null
  maintenance: string | null
  rate_limit: string | null
  /** JSON: a `KeptBasicAuth`. */
  basic_auth: string | null
  headers: string | null
  session_affinity: number
  upstream_timeout_seconds: number | null
  max_body_mb: number | null
  access_log: number
}

/** The fields of the API, and the columns, of what a service asks for its requests. */
export const EDGE_FIELDS = [
  'ip_allow_list',
  'redirects',
  'maintenance',
  'rate_limit',
  'basic_auth',
  'headers',
  'session_affinity',
  'upstream_timeout_seconds',
  'max_body_mb',
  'access_log',
] as const satisfies (keyof EdgeColumns)[]

/** Those of them that an environment may have for its services. */
export type DefaultColumns = Pick<EdgeColumns, 'basic_auth' | 'ip_allow_list'>

type Settings = Partial<Record<keyof EdgeColumns, unknown>> & {
  basic_auth?: BasicAuthInput | null | undefined
}

/**
 * The columns for those of these settings that are given, of something that has `kept` as its `basic_auth` now. Throws
 * `invalid_request` for a new user without a password; its message begins with `path` and the field.
 */
export function edgeColumns(
  settings: Settings,
  kept: string | null,
  hashes: PasswordHashes,
  path = '',
): Partial<EdgeColumns> {
  const { basic_auth } = settings
  const values: Partial<Record<keyof EdgeColumns, unknown>> = {
    ...settings,
    ...(basic_auth && { basic_auth: keptOf(basic_auth, keptUsers(kept), hashes, path) }),
  }
  const given = EDGE_FIELDS.filter((field) => values[field] !== undefined)
  return Object.fromEntries(given.map((field) => [field, columnOf(values[field])]))
}

function columnOf(value: unknown): string | number | null {
  if (typeof value === 'boolean') return value ? 1 : 0
  return value === null || typeof value === 'number' ? value : JSON.stringify(value)
}

function keptOf(
  { users, except_paths }: BasicAuthInput,
  known: KeptUser[],
  hashes: PasswordHashes,
  path: string,
): KeptBasicAuth {
  const hashed = users.map((user, index) => {
    const hash = hashes.hashOf(user, known.find(({ username }) => username === user.username)?.hash)
    if (hash === undefined)
      throw new AppError(
        'invalid_request',
        `${path}basic_auth.users.${index}.password: is required for ${user.username}, who has none yet`,
      )
    return { username: user.username, hash }
  })
  return { users: hashed, except_paths }
}

/** The users with passwords in a column `basic_auth`. */
export function keptUsers(column: string | null | undefined): KeptUser[] {
  return read<KeptBasicAuth>(column)?.users ?? []
}

/** The names of users whose password is another one afterwards, of those that there were before. */
export function changedPasswords(before: string | null, after: string | null): string[] {
  const old = new Map(keptUsers(before).map(({ username, hash }) => [username, hash]))
  return keptUsers(after)
    .filter(({ username, hash }) => (old.get(username) ?? hash) !== hash)
    .map(({ username }) => username)
}

/** A column with JSON; null if there is none. The caller says what it holds. */
export function read<T>(column: string | null | undefined): T | null {
  return typeof column === 'string' ? (JSON.parse(column) as T) : null
}

/** What a service asks for its requests, as the API returns it. */
export function viewEdge(row: EdgeColumns): Edge {
  return {
    ip_allow_list: read(row.ip_allow_list),
    redirects: read(row.redirects),
    maintenance: read(row.maintenance),
    rate_limit: read(row.rate_limit),
    basic_auth: viewBasicAuth(row.basic_auth),
    headers: read(row.headers),
    session_affinity: row.session_affinity === 1,
    upstream_timeout_seconds: row.upstream_timeout_seconds,
    max_body_mb: row.max_body_mb,
    access_log: row.access_log === 1,
  }
}

/** What holds for the services of an environment, as the API returns it; null if that is nothing. */
export function viewDefaults({ basic_auth, ip_allow_list }: DefaultColumns): EdgeDefaults | null {
  if (basic_auth === null && ip_allow_list === null) return null
  return { basic_auth: viewBasicAuth(basic_auth), ip_allow_list: read(ip_allow_list) }
}

/** The users without their passwords, and the paths that need none. */
function viewBasicAuth(column: string | null): Edge['basic_auth'] {
  const kept = read<KeptBasicAuth>(column)
  if (!kept) return null
  const users = kept.users.map(({ username }) => ({ username, password: null }))
  return { users, except_paths: kept.except_paths }
}

/** Hashes the passwords that a request gives, next to those that are kept in a column `basic_auth`. */
export async function hashesFor(
  given: { users: readonly GivenUser[] } | null | undefined,
  kept: string | null | undefined,
  hashes = new PasswordHashes(),
): Promise<PasswordHashes> {
  await hashes.add(given?.users ?? [], keptUsers(kept))
  return hashes
}
