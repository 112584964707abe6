import { createStorage } from 'unstorage'
import { AppError, messageOf } from '../errors.ts'
import { logger } from '../log.ts'
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
 * A token with which the provider may be asked now; renewed first when it is about to end.
 * Throws `git_authorization_rejected` when there is none any more, `git_provider_unavailable`.
 */
export async function accessToken(connection: ConnectionRow): Promise<string> {
  if (connection.status !== 'connected') throw unfinished(connection)
  if (connection.auth === 'token') return openSecrets(connection).token!
  const current = await currentToken(connection)
  if (current !== null) return current
  const running = asking.get(connection.id)
  if (running) return running
  const renewed = (connection.auth === 'oauth' ? refresh : mint)(connection).finally(() =>
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
    scopes: JSON.stringify(granted.scopes),
    secrets: {
      ...secrets,
      access_token: granted.accessToken,
      refresh_token: granted.refreshToken,
      ...(secrets.refresh_token === undefined ? {} : { former_refresh_token: secrets.refresh_token }),
    },
  }
}

async function currentToken(connection: ConnectionRow): Promise<string | null> {
  const latest = Date.now() + RENEW_BEFORE_MS
  if (connection.auth === 'oauth')
    return (connection.token_expires_at ?? 0) > latest ? openSecrets(connection).access_token! : null
  const kept = await minted.getItem(connection.id)
  return kept !== null && kept.expiresAt > latest ? kept.token : null
}

async function mint(connection: ConnectionRow): Promise<string> {
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
async function refresh({ id }: ConnectionRow): Promise<string> {
  // Who waited for another renewal finds it here.
  const connection = getConnection(id)
  if (!connection) throw new AppError('git_authorization_rejected', 'the git connection was removed')
  const current = await currentToken(connection)
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
