import { useDatabase } from '../context.ts'
import type { TokenRow } from './schema.ts'

const TOKEN = 'SELECT id, name, hint, created_at, expires_at, last_used_at FROM api_tokens'

export function insertToken(row: TokenRow, secretHash: string): void {
  useDatabase().run(
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
export function selectTokens(): TokenRow[] {
  return useDatabase().all<TokenRow>(`${TOKEN} ORDER BY created_at DESC, rowid DESC`)
}

/** The token with this secret, unless it has expired. */
export function selectTokenBySecret(secretHash: string, now: number): TokenRow | undefined {
  return useDatabase().get<TokenRow>(
    `${TOKEN} WHERE secret_hash = ? AND (expires_at IS NULL OR expires_at > ?)`,
    secretHash,
    now,
  )
}

export function touchToken(id: string, lastUsedAt: number): void {
  useDatabase().run('UPDATE api_tokens SET last_used_at = ? WHERE id = ?', lastUsedAt, id)
}

/** Returns whether there was such a token. */
export function deleteToken(id: string): boolean {
  return useDatabase().run('DELETE FROM api_tokens WHERE id = ?', id) > 0
}
