import { createStorage } from 'unstorage'
import { AppError, messageOf } from '../errors.ts'
import { logger } from '../log.ts'
import { withRenewal } from '../network/renewal.ts'
import { plainLine } from '../text/plain-line.ts'
import { CredentialsRefused, type RefusalStatus } from './providers/ask.ts'
import type { Granted } from './providers/gitlab.ts'
import { gitHubOf, gitLabOf } from './providers/index.ts'
import { getConnection, openSecrets, updateConnection, type ConnectionRow, type Secrets } from './store.ts'

const log = logger('git')

/** A token that expires sooner is renewed before use: a clone may take minutes. */
const RENEW_BEFORE_MS = 5 * 60_000

interface KeptToken {
  token: string
  expiresAt: number
}

/** Installation tokens, only in memory: a new one can always be requested. */
const installationTokens = createStorage<KeptToken>()
/** Requests under way, by connection: a second caller waits for the same answer. */
const asking = new Map<string, Promise<string>>()

/**
 * Calls a provider with the token of a connection, and once more with a new token when it refuses the first. Throws what
 * `accessToken` and `use` throw.
 */
export async function withToken<T>(
  connection: ConnectionRow,
  use: (token: string) => Promise<T>,
): Promise<T> {
  return withRenewal(await accessToken(connection), use, async (fault, refused) =>
    fault instanceof CredentialsRefused ? otherToken(connection, refused, fault.status) : null,
  )
}

/**
 * Returns a token that is valid now. Renews it first when it is about to expire. Throws `git_authorization_rejected` when
 * the connection has none any more, `git_provider_unavailable`.
 */
export async function accessToken(connection: ConnectionRow): Promise<string> {
  if (connection.status !== 'connected') throw unfinished(connection)
  return connection.auth === 'token' ? openSecrets(connection).token! : currentOrNew(connection, null)
}

/**
 * Returns another token in place of one that the provider refused before it expired, which happens after an app's
 * permissions changed or it was suspended; null when another would not help. Throws what `accessToken` throws.
 */
export async function otherToken(
  connection: ConnectionRow,
  refused: string,
  status: RefusalStatus,
): Promise<string | null> {
  // Only a user can replace a personal access token.
  if (connection.auth === 'token') return null
  // Renewing an authorization does not change what it allows; a new token of an app has the app's current permissions.
  if (connection.auth === 'oauth' && status === 403) return null
  log.info('a token was refused before it expired', { connection: connection.id, status })
  return currentOrNew(connection, refused)
}

async function currentOrNew(connection: ConnectionRow, refused: string | null): Promise<string> {
  const current = await currentToken(connection, refused)
  if (current !== null) return current
  const running = asking.get(connection.id)
  if (running) return running
  const renewed = (connection.auth === 'oauth' ? refresh : requestToken)(connection, refused).finally(() =>
    asking.delete(connection.id),
  )
  asking.set(connection.id, renewed)
  return renewed
}

/** Forgets the tokens of a connection, after its key or its permissions have changed. */
export async function forgetTokens(connectionId: string): Promise<void> {
  await installationTokens.removeItem(connectionId)
}

/** The columns that store an authorization. Written at once, together with the secrets that it replaces. */
export function grantedColumns(secrets: Secrets, granted: Granted) {
  return {
    token_expires_at: granted.expiresAt,
    scopes: JSON.stringify(granted.scopes.map((scope) => plainLine(scope))),
    secrets: {
      ...secrets,
      access_token: granted.accessToken,
      refresh_token: granted.refreshToken,
      ...(secrets.refresh_token === undefined ? {} : { former_refresh_token: secrets.refresh_token }),
    },
  }
}

/** The stored token; null when there is none, it is about to expire, or it is the refused one. */
async function currentToken(connection: ConnectionRow, refused: string | null): Promise<string | null> {
  const kept =
    connection.auth === 'oauth' ? granted(connection.id) : await installationTokens.getItem(connection.id)
  const isUseful = kept !== null && kept.expiresAt > Date.now() + RENEW_BEFORE_MS && kept.token !== refused
  return isUseful ? kept.token : null
}

/** Reads the database now: another caller may have renewed the token while this one waited. */
function granted(id: string): KeptToken | null {
  const connection = getConnection(id)
  if (!connection) return null
  return { token: openSecrets(connection).access_token!, expiresAt: connection.token_expires_at ?? 0 }
}

async function requestToken(connection: ConnectionRow, refused: string | null): Promise<string> {
  // If no other can be had, other callers need not find out that this one is refused.
  if (refused !== null) await installationTokens.removeItem(connection.id)
  if (connection.app_id === null || connection.installation_id === null) throw unfinished(connection)
  const key = { id: connection.app_id, privateKey: openSecrets(connection).private_key! }
  const made = await gitHubOf(connection).installationToken(key, connection.installation_id)
  // A token of an installation that was replaced in the meantime is not kept.
  if (getConnection(connection.id)?.installation_id === connection.installation_id)
    await installationTokens.setItem(connection.id, made)
  return made.token
}

/**
 * Renews an authorization. The new refresh token is written before anything else happens. The previous one is kept next to
 * it, in case the answer with a newer one is lost.
 */
async function refresh({ id }: ConnectionRow, refused: string | null): Promise<string> {
  const connection = getConnection(id)
  if (!connection) throw new AppError('git_authorization_rejected', 'the git connection was removed')
  // A caller that waited for another renewal finds its result here.
  const current = await currentToken(connection, refused)
  if (current !== null) return current
  const secrets = openSecrets(connection)
  const application = { client_id: connection.client_id!, client_secret: secrets.client_secret! }
  const candidates = [secrets.refresh_token, secrets.former_refresh_token].filter(
    (text) => text !== undefined,
  )
  let refusal: unknown
  for (const refresh_token of candidates) {
    try {
      const granted = await gitLabOf(connection).refresh({ ...application, refresh_token })
      updateConnection(id, grantedColumns({ ...secrets, refresh_token }, granted))
      return granted.accessToken
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'git_authorization_rejected') throw error
      refusal = error
    }
  }
  log.warn('an authorization could not be renewed', { connection: id, error: messageOf(refusal) })
  throw new AppError(
    'git_authorization_rejected',
    `the authorization of ${connection.account} has expired: authorize the connection again`,
    { cause: refusal },
  )
}

function unfinished({ account }: ConnectionRow): AppError {
  const whose = account === null ? 'this git connection' : `the git connection of ${account}`
  return new AppError('git_authorization_rejected', `${whose} is not finished: authorize it in the dashboard`)
}
