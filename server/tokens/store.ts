import { useDatabase } from '../context.ts'
import type { Database } from '../database/index.ts'
import type { TokenRow } from './schema.ts'

const TOKEN = 'SELECT id, name, hint, created_at, expires_at, last_used_at FROM api_tokens'

export function insertToken(database: Database, row: TokenRow, secretHash: string): void {
  database.run(
    'INSERT INTO api_tokens (id, name, secret_hash, hint, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)',
    row.id,
    row.name,
    secretHash,
    row.hint,
    row.created_at,
    row.expires_at,
  )
}

/** Newest first. */
export function selectTokens(database: Database): TokenRow[] {
  return database.all<TokenRow>(`${TOKEN} ORDER BY created_at DESC, rowid DESC`)
}

/** The token with this secret, unless it has expired. */
export function selectTokenBySecret(secretHash: string, now: number): TokenRow | undefined {
  return useDatabase().get<TokenRow>(
    `${TOKEN} WHERE secret_hash = ? AND (expires_at IS NULL OR expires_at > ?)`,
    secretHash,
    now,
  )
}

/** The name of a token; undefined when it was revoked. */
export function selectTokenName(id: string): string | undefined {
  return useDatabase().get<{ name: string }>('SELECT name FROM api_tokens WHERE id = ?', id)?.name
}

export function touchToken(id: string, lastUsedAt: number): void {
  useDatabase().run('UPDATE api_tokens SET last_used_at = ? WHERE id = ?', lastUsedAt, id)
}

/** Returns whether there was such a token. */
export function deleteToken(database: Database, id: string): boolean {
  return database.run('DELETE FROM api_tokens WHERE id = ?', id) > 0
}
