import type { Database } from '../../database/index.ts'
import type { PasskeyRow, TotpRow } from './schema.ts'

/** The confirmed authenticator app, if there is one. */
export function selectTotp(database: Database): TotpRow | undefined {
  return database.get<TotpRow>('SELECT secret, last_step, confirmed_at, last_used_at FROM totp')
}

/** Replaces the authenticator app. */
export function writeTotp(database: Database, row: TotpRow): void {
  database.run(
    'INSERT OR REPLACE INTO totp (id, secret, last_step, confirmed_at, last_used_at) VALUES (1, ?, ?, ?, ?)',
    row.secret,
    row.last_step,
    row.confirmed_at,
    row.last_used_at,
  )
}

/**
 * Uses up the code of a step, which is at most one away from now. Returns false if it, or a later one, has been used. One that
 * is later than could be was used under a clock that was ahead, and must not lock the app out until then.
 */
export function useStep(database: Database, step: number, now: number): boolean {
  return (
    database.run(
      'UPDATE totp SET last_step = ?, last_used_at = ? WHERE last_step < ? OR last_step > ? + 2',
      step,
      now,
      step,
      step,
    ) > 0
  )
}

export function deleteTotp(database: Database): boolean {
  return database.run('DELETE FROM totp') > 0
}

const PASSKEY =
  'SELECT id, name, host, credential_id, public_key, counter, created_at, last_used_at FROM passkeys'

/** Oldest first. */
export function selectPasskeys(database: Database): PasskeyRow[] {
  return database.all<PasskeyRow>(`${PASSKEY} ORDER BY created_at, id`)
}

export function selectPasskeyByCredential(database: Database, credentialId: string): PasskeyRow | undefined {
  return database.get<PasskeyRow>(`${PASSKEY} WHERE credential_id = ?`, credentialId)
}

/** Throws SQLite's unique violation when the credential is there already. */
export function insertPasskey(database: Database, row: PasskeyRow): void {
  database.run(
    'INSERT INTO passkeys (id, name, host, credential_id, public_key, counter, created_at, last_used_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    row.id,
    row.name,
    row.host,
    row.credential_id,
    row.public_key,
    row.counter,
    row.created_at,
    row.last_used_at,
  )
}

/** Records a use if the counter still is `from`. Returns false if it is not, or the passkey is gone. */
export function usePasskey(database: Database, id: string, from: number, to: number, now: number): boolean {
  return (
    database.run(
      'UPDATE passkeys SET counter = ?, last_used_at = ? WHERE id = ? AND counter = ?',
      to,
      now,
      id,
      from,
    ) > 0
  )
}

export function deletePasskey(database: Database, id: string): boolean {
  return database.run('DELETE FROM passkeys WHERE id = ?', id) > 0
}

export function countRecoveryCodes(database: Database): number {
  return database.get<{ count: number }>('SELECT count(*) AS count FROM recovery_codes')!.count
}

/** Replaces the recovery codes by others, given as hashes. */
export function writeRecoveryCodes(database: Database, hashes: readonly string[]): void {
  database.run('DELETE FROM recovery_codes')
  for (const hash of hashes) database.run('INSERT INTO recovery_codes (hash) VALUES (?)', hash)
}

/** Uses up a recovery code. Returns whether there was such a one. */
export function deleteRecoveryCode(database: Database, hash: string): boolean {
  return database.run('DELETE FROM recovery_codes WHERE hash = ?', hash) > 0
}

/** Whether sign-in needs more than the password. Recovery codes alone are no factor. */
export function hasSecondFactor(database: Database): boolean {
  return (
    database.get<{ found: number }>(
      'SELECT EXISTS (SELECT 1 FROM totp) OR EXISTS (SELECT 1 FROM passkeys) AS found',
    )!.found === 1
  )
}

/** Removes every second factor and the recovery codes. */
export function clearSecondFactors(database: Database): void {
  for (const table of ['totp', 'passkeys', 'recovery_codes']) database.run(`DELETE FROM ${table}`)
}

/** When a session last showed a second factor; null when it never did. */
export function selectVerifiedAt(database: Database, sessionId: string): number | null {
  const row = database.get<{ verified_at: number | null }>(
    'SELECT verified_at FROM sessions WHERE id = ?',
    sessionId,
  )
  return row?.verified_at ?? null
}

export function writeVerifiedAt(database: Database, sessionId: string, now: number): void {
  database.run('UPDATE sessions SET verified_at = ? WHERE id = ?', now, sessionId)
}
