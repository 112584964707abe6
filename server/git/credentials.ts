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

/** A token that ends sooner is renewed before it is used: a clone may take minutes. */
const RENEW_BEFORE_MS = 5 * 60_000

interface Minted {
  token: string
  expiresAt: number
}

/** Tokens of installations, in memory: another is made by asking. */
const minted = createStorage<Minted>()
/** What is being asked for, by connection: a second who wants it waits for the same answer. */
const asking = new Map<string, Promise<string>>()

/**
 * Asks a provider with the token of a connection; once more with a new one when it refuses that.
 * Throws like `accessToken` and what `use` throws.
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
 * A token with which the provider may be asked now; renewed first when it is about to end.
 * Throws `git_authorization_rejected` when there is none any more, `git_provider_unavailable`.
 */
export async function accessToken(connection: ConnectionRow): Promise<string> {
  if (connection.status !== 'connected') throw unfinished(connection)
  return connection.auth === 'token' ? openSecrets(connection).token! : currentOrNew(connection, null)
}

/**
 * Another token in place of one that the provider refused before its end, as it does after an app's permissions changed or
 * it was suspended; null when no other would do better. Throws like `accessToken`.
 */
export async function otherToken(
  connection: ConnectionRow,
  refused: string,
  status: RefusalStatus,
): Promise<string | null> {
  // Only a person can replace it.
  if (connection.auth === 'token') return null
  // What an authorization allows is the same after its renewal; an app's new token may do what it has been allowed since.
  if (connection.auth === 'oauth' && status === 403) return null
  log.info('a token was refused before its end', { connection: connection.id, status })
  return currentOrNew(connection, refused)
}

async function currentOrNew(connection: ConnectionRow, refused: string | null): Promise<string> {
  const current = await currentToken(connection, refused)
  if (current !== null) return current
  const running = asking.get(connection.id)
  if (running) return running
  const renewed = (connection.auth === 'oauth' ? refresh : mint)(connection, refused).finally(() =>
    asking.delete(connection.id),
  )
  asking.set(connection.id, renewed)
  return renewed
}

/** Forgets what was made from a connection's key, after that has changed. */
export async function forgetTokens(connectionId: string): Promise<void> {
  await minted.removeItem(connectionId)
}

/** The columns in which an authorization is kept, in one write with what it replaces. */
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

/** The token that is kept; null when there is none, it is about to end, or it is the one that was refused. */
async function currentToken(connection: ConnectionRow, refused: string | null): Promise<string | null> {
  const kept = connection.auth === 'oauth' ? granted(connection.id) : await minted.getItem(connection.id)
  const isUseful = kept !== null && kept.expiresAt > Date.now() + RENEW_BEFORE_MS && kept.token !== refused
  return isUseful ? kept.token : null
}

/** Read from the database now: the caller may have waited while another renewed it. */
function granted(id: string): Minted | null {
  const connection = getConnection(id)
  if (!connection) return null
  return { token: openSecrets(connection).access_token!, expiresAt: connection.token_expires_at ?? 0 }
}

async function mint(connection: ConnectionRow, refused: string | null): Promise<string> {
  // Should there be no other, nobody else need find out that this one is refused.
  if (refused !== null) await minted.removeItem(connection.id)
  if (connection.app_id === null || connection.installation_id === null) throw unfinished(connection)
  const key = { id: connection.app_id, privateKey: openSecrets(connection).private_key! }
  const made = await gitHubOf(connection).installationToken(key, connection.installation_id)
  // One that another installation has replaced meanwhile is not kept for it.
  if (getConnection(connection.id)?.installation_id === connection.installation_id)
    await minted.setItem(connection.id, made)
  return made.token
}

/**
 * Renews an authorization. Its successor is written before anything else happens; the one before stays beside it, for the
 * case that an answer with a successor was lost.
 */
async function refresh({ id }: ConnectionRow, refused: string | null): Promise<string> {
  const connection = getConnection(id)
  if (!connection) throw new AppError('git_authorization_rejected', 'the git connection was removed')
  // A caller that waited for another renewal finds it here.
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
    `the authorization of ${connection.account} has ended: authorize the connection again`,
    { cause: refusal },
  )
}

function unfinished({ account }: ConnectionRow): AppError {
  const whose = account === null ? 'this git connection' : `the git connection of ${account}`
  return new AppError('git_authorization_rejected', `${whose} is not finished: authorize it in the dashboard`)
}
