import { AppError } from '../errors.ts'
import { plainLine } from '../text/plain-line.ts'
import { forgetTokens, withToken } from './credentials.ts'
import type { Owner, RepositoryList } from './providers/api.ts'
import { apiOf } from './providers/index.ts'
import { normalBaseUrl } from './providers/place.ts'
import type { TokenInput } from './schema.ts'
import { servicesByConnection } from './serving.ts'
import {
  deleteConnectionRow,
  getConnection,
  insertConnection,
  listConnections,
  updateConnection,
  type ConnectionColumns,
  type ConnectionRow,
} from './store.ts'

/** Each connection may be asked for each repository that no account owns, and each secret is tried on each delivery. */
const MAX_CONNECTIONS = 100
const HINT_CHARACTERS = 4

/** The connection with this id. Throws `not_found`. */
export function findConnection(id: string): ConnectionRow {
  const found = getConnection(id)
  if (!found) throw new AppError('not_found', `there is no git connection ${id}`)
  return found
}

/** Throws `conflict` when there are as many connections as there may be. */
export function assertRoom(): void {
  if (listConnections().length >= MAX_CONNECTIONS)
    throw new AppError(
      'conflict',
      `there are ${MAX_CONNECTIONS} git connections already, which is the maximum: remove one that is not needed`,
    )
}

/**
 * Connects an account with a personal access token, after asking the provider whose it is. `isNew` is false when the token
 * replaces that of an account already connected with one.
 */
export async function connectWithToken(
  input: TokenInput,
): Promise<{ connection: ConnectionRow; isNew: boolean }> {
  const place = {
    provider: input.provider,
    base_url: normalBaseUrl(input.provider, input.base_url ?? null),
  }
  const { token } = input
  const owner = await apiOf(place).ownerOf(token)
  const known = connectionOf({ ...place, auth: 'token', account: owner.account })
  const columns: ConnectionColumns = {
    ...ownerColumns(owner),
    token_hint: token.slice(-HINT_CHARACTERS),
    secrets: { token },
  }
  const replaced = known && updateConnection(known.id, columns)
  if (replaced) return { connection: replaced, isNew: false }
  assertRoom()
  const connection = insertConnection({ ...place, auth: 'token', status: 'connected', ...columns })
  return { connection, isNew: true }
}

/** The connection of a provider, base URL, kind and account. */
export function connectionOf({
  provider,
  base_url,
  auth,
  account,
}: Pick<ConnectionRow, 'provider' | 'base_url' | 'auth' | 'account'>): ConnectionRow | undefined {
  return listConnections().find(
    (row) =>
      row.provider === provider &&
      row.base_url === base_url &&
      row.auth === auth &&
      row.account?.toLowerCase() === account?.toLowerCase(),
  )
}

/** The columns that say whose a connection is. */
export function ownerColumns({ account, accountName, scopes, expiresAt }: Owner): ConnectionColumns {
  return {
    account,
    account_name: accountName,
    scopes: JSON.stringify(scopes.map((scope) => plainLine(scope))),
    token_expires_at: expiresAt,
  }
}

/** The repositories that a connection may read, as its provider says now. */
export async function repositoriesOf(connection: ConnectionRow): Promise<RepositoryList> {
  return withToken(connection, (token) =>
    apiOf(connection).repositories(token, connection.auth === 'hosted_app'),
  )
}

/** Removes a connection and its secrets. Throws `conflict` while services are cloned with it, unless `force` is given. */
export async function deleteConnection({ id }: ConnectionRow, force: boolean): Promise<void> {
  const services = servicesByConnection().get(id) ?? []
  if (services.length > 0 && !force) {
    throw new AppError(
      'conflict',
      `the repositories of ${services.join(', ')} are cloned with this connection: repeat with force=true to remove it, but private ones can then no longer be cloned`,
    )
  }
  deleteConnectionRow(id)
  await forgetTokens(id)
}
