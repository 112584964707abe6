import type { Database } from '../database/index.ts'
import { readSetting, writeSetting } from '../database/settings.ts'
import type { AccountRow, SessionRow } from './schema.ts'

const PASSWORD_RESET = 'password_reset'

/** The account, if it has been created. */
export function selectAccount(database: Database): AccountRow | undefined {
  return database.get<AccountRow>('SELECT id, email, password_hash, created_at FROM accounts')
}

/** Throws SQLite's unique violation when there already is an account. */
export function insertAccount(database: Database, row: AccountRow): void {
  database.run(
    'INSERT INTO accounts (id, email, password_hash, created_at) VALUES (?, ?, ?, ?)',
    row.id,
    row.email,
    row.password_hash,
    row.created_at,
  )
}

/** Sets the hash if it still is `from`. Returns whether it was. */
export function replacePasswordHash(database: Database, from: string, to: string): boolean {
  return database.run('UPDATE accounts SET password_hash = ? WHERE password_hash = ?', to, from) > 0
}

/** Records that the password was replaced on the host, so that the running server notices. */
export function recordPasswordReset(database: Database, mark: string): void {
  writeSetting(database, PASSWORD_RESET, mark)
}

/** The mark of the last time that the password was replaced on the host. */
export function selectPasswordReset(database: Database): string | undefined {
  return readSetting(database, PASSWORD_RESET)
}

export function insertSession(
  database: Database,
  row: SessionRow,
  secretHash: string,
  verifiedAt: number | null,
): void {
  database.run(
    'INSERT INTO sessions (id, secret_hash, user_agent, created_at, last_used_at, expires_at, verified_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
    row.id,
    secretHash,
    row.user_agent,
    row.created_at,
    row.last_used_at,
    row.expires_at,
    verifiedAt,
  )
}

const SESSION = 'SELECT id, user_agent, created_at, last_used_at, expires_at FROM sessions'

export function selectSessionBySecret(
  database: Database,
  secretHash: string,
  now: number,
): SessionRow | undefined {
  return database.get<SessionRow>(`${SESSION} WHERE secret_hash = ? AND expires_at > ?`, secretHash, now)
}

/** Sessions that have not ended, last used first. */
export function selectSessions(database: Database, now: number): SessionRow[] {
  return database.all<SessionRow>(
    `${SESSION} WHERE expires_at > ? ORDER BY last_used_at DESC, created_at DESC, id`,
    now,
  )
}

export function touchSession(database: Database, id: string, lastUsedAt: number, expiresAt: number): void {
  database.run('UPDATE sessions SET last_used_at = ?, expires_at = ? WHERE id = ?', lastUsedAt, expiresAt, id)
}

/** Returns whether there was such a session that had not ended. */
export function deleteSession(database: Database, id: string, now: number): boolean {
  return database.run('DELETE FROM sessions WHERE id = ? AND expires_at > ?', id, now) > 0
}

/** Ends every session but `keptId`; with null, all of them. */
export function deleteOtherSessions(database: Database, keptId: string | null): void {
  database.run('DELETE FROM sessions WHERE id IS NOT ?', keptId)
}

/** Removes sessions that have ended and, of the rest, all but the `kept` most recently used. */
export function trimSessions(database: Database, now: number, kept: number): void {
  database.run('DELETE FROM sessions WHERE expires_at <= ?', now)
  database.run(
    'DELETE FROM sessions WHERE id IN (SELECT id FROM sessions ORDER BY last_used_at DESC, created_at DESC, id LIMIT -1 OFFSET ?)',
    kept,
  )
}
