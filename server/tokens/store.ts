import type { Access, Mode } from '../access/access.ts'
import { useDatabase } from '../context.ts'
import type { Database } from '../database/index.ts'
import type { TokenRow } from './schema.ts'

/** As the table has it. The lists are JSON, of ids that still exist; null if the token is not restricted in that way. */
interface StoredToken extends Omit<TokenRow, 'access'> {
  mode: Mode
  secrets: number
  environments: string | null
  services: string | null
}

/** A token without anything left to reach must not become one that reaches everything. */
const TOKEN = `SELECT id, name, hint, holder, created_at, expires_at, last_used_at, mode, secrets,
    CASE WHEN by_environment THEN (
      SELECT json_group_array(environment_id) FROM api_token_environments WHERE token_id = api_tokens.id
    ) END AS environments,
    CASE WHEN by_service THEN (
      SELECT json_group_array(service_id) FROM api_token_services WHERE token_id = api_tokens.id
    ) END AS services
  FROM api_tokens`

export function insertToken(database: Database, row: TokenRow, secretHash: string): void {
  const { environments, services, mode, secrets } = row.access
  database.transaction(() => {
    database.run(
      `INSERT INTO api_tokens
         (id, name, secret_hash, hint, holder, created_at, expires_at, mode, secrets, by_environment, by_service)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      row.id,
      row.name,
      secretHash,
      row.hint,
      row.holder,
      row.created_at,
      row.expires_at,
      mode,
      secrets ? 1 : 0,
      environments === null ? 0 : 1,
      services === null ? 0 : 1,
    )
    for (const environment of environments ?? [])
      database.run('INSERT OR IGNORE INTO api_token_environments VALUES (?, ?)', row.id, environment)
    for (const service of services ?? [])
      database.run('INSERT OR IGNORE INTO api_token_services VALUES (?, ?)', row.id, service)
  })
}

/** Newest first. */
export function selectTokens(database: Database): TokenRow[] {
  return database.all<StoredToken>(`${TOKEN} ORDER BY created_at DESC, rowid DESC`).map(opened)
}

/** The token with this secret, unless it has expired. */
export function selectTokenBySecret(secretHash: string, now: number): TokenRow | undefined {
  const found = useDatabase().get<StoredToken>(
    `${TOKEN} WHERE secret_hash = ? AND (expires_at IS NULL OR expires_at > ?)`,
    secretHash,
    now,
  )
  return found && opened(found)
}

/** What a token is called, and who acts with it; undefined when it was revoked. */
export function selectTokenLabel(id: string): Pick<TokenRow, 'name' | 'holder'> | undefined {
  return useDatabase().get('SELECT name, holder FROM api_tokens WHERE id = ?', id)
}

export function touchToken(id: string, lastUsedAt: number): void {
  useDatabase().run('UPDATE api_tokens SET last_used_at = ? WHERE id = ?', lastUsedAt, id)
}

/** Returns whether there was such a token. */
export function deleteToken(database: Database, id: string): boolean {
  return database.run('DELETE FROM api_tokens WHERE id = ?', id) > 0
}

function opened({ mode, secrets, environments, services, ...row }: StoredToken): TokenRow {
  const access: Access = {
    mode,
    secrets: secrets === 1,
    environments: environments === null ? null : (JSON.parse(environments) as string[]),
    services: services === null ? null : (JSON.parse(services) as string[]),
  }
  return { ...row, access }
}
