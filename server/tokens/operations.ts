import type { z } from 'zod'
import { FULL, type Access } from '../access/access.ts'
import { announceCredentialsEnded } from '../accounts/credentials.ts'
import { recordOwn } from '../audit/recording.ts'
import { useDatabase } from '../context.ts'
import type { Database } from '../database/index.ts'
import { AppError, messageOf } from '../errors.ts'
import { newId } from '../ids.ts'
import { logger } from '../log.ts'
import { sha256 } from '../secrets.ts'
import { toApiToken, type ApiToken, type CreatedApiToken, type TokenHolder } from './schema.ts'
import { newToken } from './secret.ts'
import { isServerToken } from './server-token.ts'
import {
  deleteToken,
  insertToken,
  selectTokenBySecret,
  selectTokenLabel,
  selectTokens,
  touchToken,
} from './store.ts'

/** `last_used_at` is written at most this often, because each write waits for the disk. */
const TOUCH_INTERVAL_MS = 60_000
const HINT_CHARACTERS = 4

const log = logger('tokens')

/** Creates a token; `expiresAt` is null for never. Only this answer contains the secret. */
export function createToken(
  name: string,
  expiresAt: number | null,
  access: Access = FULL,
  holder: TokenHolder = 'token',
): z.input<typeof CreatedApiToken> {
  const created = addToken(useDatabase(), name, expiresAt, access, holder)
  log.info('an API token was created', { token: created.api_token.id, name, mode: access.mode })
  return created
}

/** Does the same in a database that this process may have opened next to the server. */
export function addToken(
  database: Database,
  name: string,
  expiresAt: number | null,
  access: Access = FULL,
  holder: TokenHolder = 'token',
): z.input<typeof CreatedApiToken> {
  const token = newToken()
  const row = {
    id: newId('token'),
    name,
    hint: token.slice(-HINT_CHARACTERS),
    holder,
    created_at: Date.now(),
    expires_at: expiresAt,
    last_used_at: null,
    access,
  }
  insertToken(database, row, sha256(token))
  return { api_token: toApiToken(row), token }
}

/** All named and terminal tokens, newest first. Includes expired ones, until they are deleted. */
export function listTokens(database: Database = useDatabase()): z.input<typeof ApiToken>[] {
  return selectTokens(database).map(toApiToken)
}

/** Revokes a token, effective immediately. Throws `not_found`. */
export function revokeToken(id: string): void {
  if (!deleteToken(useDatabase(), id)) throw new AppError('not_found', `there is no API token ${id}`)
  announceCredentialsEnded()
  log.info('an API token was revoked', { token: id })
}

/** Revokes a token that was never handed over, if it still exists. */
export function revokeUnused(id: string): void {
  const database = useDatabase()
  const isRevoked = database.transaction(() => {
    const name = selectTokenLabel(id)?.name ?? null
    if (!deleteToken(database, id)) return false
    recordOwn(database, 'token.deleted', { kind: 'token', id, name, environment: null })
    return true
  })
  if (isRevoked) log.info('an API token was revoked because its terminal never fetched it', { token: id })
}

/**
 * Identifies a token, with what it may do, and records its use: null is the id of the server token, undefined means that
 * there is no such token.
 */
export function verifyToken(token: string): { id: string | null; access: Access } | undefined {
  if (isServerToken(token)) return { id: null, access: FULL }
  const now = Date.now()
  const row = selectTokenBySecret(sha256(token), now)
  if (!row) return undefined
  if (row.last_used_at === null || now - row.last_used_at >= TOUCH_INTERVAL_MS) recordUse(row.id, now)
  return { id: row.id, access: row.access }
}

/** What the server's log calls a token: its name. The server token, which has no record, is called that. */
export function tokenLabel(id: string | null): string {
  return id === null ? 'server token' : (selectTokenLabel(id)?.name ?? id)
}

function recordUse(id: string, now: number): void {
  try {
    touchToken(id, now)
  } catch (error) {
    // A full disk must not prevent requests that read.
    log.warn('the last use of a token could not be recorded', { token: id, error: messageOf(error) })
  }
}
