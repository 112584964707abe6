import type { z } from 'zod'
import { announceCredentialsEnded } from '../accounts/credentials.ts'
import { AppError, messageOf } from '../errors.ts'
import { newId } from '../ids.ts'
import { logger } from '../log.ts'
import { sha256 } from '../secrets.ts'
import { toApiToken, type ApiToken, type CreatedApiToken } from './schema.ts'
import { newToken } from './secret.ts'
import { isServerToken } from './server-token.ts'
import { deleteToken, insertToken, selectTokenBySecret, selectTokens, touchToken } from './store.ts'

/** `last_used_at` is written at most this often, because each write waits for the disk. */
const TOUCH_INTERVAL_MS = 60_000
const HINT_CHARACTERS = 4

const log = logger('tokens')

/** Creates a token; `expiresAt` is null for never. Only this answer contains the secret. */
export function createToken(name: string, expiresAt: number | null): z.input<typeof CreatedApiToken> {
  const token = newToken()
  const row = {
    id: newId('token'),
    name,
    hint: token.slice(-HINT_CHARACTERS),
    created_at: Date.now(),
    expires_at: expiresAt,
    last_used_at: null,
  }
  insertToken(row, sha256(token))
  log.info('an API token was created', { token: row.id, name })
  return { api_token: toApiToken(row), token }
}

/** All named and terminal tokens, newest first. Includes expired ones, until they are deleted. */
export function listTokens(): z.input<typeof ApiToken>[] {
  return selectTokens().map(toApiToken)
}

/** Revokes a token, effective immediately. Throws `not_found`. */
export function revokeToken(id: string): void {
  if (!deleteToken(id)) throw new AppError('not_found', `there is no API token ${id}`)
  announceCredentialsEnded()
  log.info('an API token was revoked', { token: id })
}

/** Revokes a token that was never handed over, if it still exists. */
export function revokeUnused(id: string): void {
  if (deleteToken(id))
    log.info('an API token was revoked because its terminal never fetched it', { token: id })
}

/**
 * Identifies a token and records its use: null is the id of the server token, undefined means that there is no such token.
 */
export function verifyToken(token: string): { id: string | null } | undefined {
  if (isServerToken(token)) return { id: null }
  const now = Date.now()
  const row = selectTokenBySecret(sha256(token), now)
  if (!row) return undefined
  if (row.last_used_at === null || now - row.last_used_at >= TOUCH_INTERVAL_MS) recordUse(row.id, now)
  return { id: row.id }
}

function recordUse(id: string, now: number): void {
  try {
    touchToken(id, now)
  } catch (error) {
    // A full disk must not prevent requests that read.
    log.warn('the last use of a token could not be recorded', { token: id, error: messageOf(error) })
  }
}
