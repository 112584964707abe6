import type { z } from 'zod'
import { useDatabase } from '../context.ts'
import type { Database } from '../database/index.ts'
import { AppError, messageOf } from '../errors.ts'
import { newId, randomHex } from '../ids.ts'
import { logger } from '../log.ts'
import { sha256 } from '../secrets.ts'
import { announceCredentialsEnded } from './credentials.ts'
import { toSession, type Session, type SessionRow } from './schema.ts'
import {
  deleteSession,
  insertSession,
  selectSessionBySecret,
  selectSessions,
  touchSession,
  trimSessions,
} from './store.ts'

/** A session ends this long after its last use. */
export const SESSION_LIFETIME_MS = 30 * 24 * 3_600_000
/** `last_used_at` is written at most this often: each write waits for the disk. */
const TOUCH_INTERVAL_MS = 60_000
const SECRET_BYTES = 32
/** Max sessions kept, so that a program that signs in again and again cannot fill the table. */
const MAX_SESSIONS = 1_000
/** Real ones are under 300; a longer one is cut. */
const MAX_USER_AGENT_CHARACTERS = 512

const log = logger('accounts')

/**
 * When sessions were last used, the one used longest ago first: the order of the list is that of uses, also within the
 * interval in which none is written. A restart of the server forgets it.
 */
const lastUses = new Map<string, number>()

/** The session that a request belongs to. `renewed` says that its expiry has just moved. */
export interface SignedIn {
  id: string
  renewed: boolean
}

/**
 * Opens a session in the caller's transaction; `isVerified` says that it has just shown a second factor. Returns its id and
 * the secret for the cookie, stored only as a hash.
 */
export function openSession(
  database: Database,
  userAgent: string | undefined,
  isVerified: boolean,
): { id: string; secret: string } {
  const secret = randomHex(SECRET_BYTES)
  const now = Date.now()
  const row = {
    id: newId('session'),
    user_agent: userAgent?.slice(0, MAX_USER_AGENT_CHARACTERS) || null,
    created_at: now,
    last_used_at: now,
    expires_at: now + SESSION_LIFETIME_MS,
  }
  insertSession(database, row, sha256(secret), isVerified ? now : null)
  trimSessions(database, now, MAX_SESSIONS)
  return { id: row.id, secret }
}

/** Returns the session of a cookie's secret unless it has ended; calling this counts as a use of it. */
export function resumeSession(secret: string): SignedIn | undefined {
  const now = Date.now()
  const session = selectSessionBySecret(useDatabase(), sha256(secret), now)
  if (!session) return undefined
  noteUse(session.id, now)
  if (now - session.last_used_at < TOUCH_INTERVAL_MS) return { id: session.id, renewed: false }
  try {
    touchSession(useDatabase(), session.id, now, now + SESSION_LIFETIME_MS)
  } catch (error) {
    // A full disk must not lock out the administrator, who could free some space.
    log.warn('the time of the last use of a session could not be saved', {
      session: session.id,
      error: messageOf(error),
    })
  }
  return { id: session.id, renewed: true }
}

/** Every session that has not ended, last used first. */
export function listSessions(currentId: string): z.input<typeof Session>[] {
  return selectSessions(useDatabase(), Date.now())
    .map(withLastUse)
    .sort((left, right) => right.last_used_at - left.last_used_at)
    .map((row) => toSession(row, currentId))
}

function noteUse(id: string, now: number): void {
  lastUses.delete(id)
  lastUses.set(id, now)
  if (lastUses.size > MAX_SESSIONS) lastUses.delete(lastUses.keys().next().value!)
}

function withLastUse(row: SessionRow): SessionRow {
  const used = Math.max(row.last_used_at, lastUses.get(row.id) ?? 0)
  return { ...row, last_used_at: used, expires_at: used + SESSION_LIFETIME_MS }
}

/** Ends a session. Returns false if it had already ended. */
export function endSession(id: string): boolean {
  const ended = deleteSession(useDatabase(), id, Date.now())
  if (ended) announceCredentialsEnded()
  return ended
}

/** Ends a session. Throws `not_found` when there is none with this id. */
export function revokeSession(id: string): void {
  if (!endSession(id)) throw new AppError('not_found', `there is no session ${id}`)
}
