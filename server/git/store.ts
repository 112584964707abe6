import { announce, type Change } from '../changes.ts'
import { useContext, useDatabase } from '../context.ts'
import type { Value } from '../database/index.ts'
import { newId } from '../ids.ts'
import type { AuthKind, ConnectionStatus, Provider } from './schema.ts'

/** A row of `git_connections`. Times are milliseconds, booleans 0 or 1. */
export interface ConnectionRow {
  id: string
  provider: Provider
  auth: AuthKind
  status: ConnectionStatus
  /** The base URL of a self-hosted instance, without a trailing slash; null for the provider's own. */
  base_url: string | null
  /** The organization in which the app is to be registered. */
  organization: string | null
  account: string | null
  account_name: string | null
  app_id: number | null
  app_slug: string | null
  app_url: string | null
  installation_id: number | null
  manage_url: string | null
  client_id: string | null
  push_events: number
  repository_selection: string | null
  /** JSON. */
  scopes: string
  token_hint: string | null
  token_expires_at: number | null
  /** JSON of Secrets, sealed; null before there are any. */
  secrets: Uint8Array | null
  created_at: number
  updated_at: number
}

/** What a connection authenticates with. Which fields are set follows from its `auth`. */
export interface Secrets {
  /** Personal access token. */
  token?: string
  /** The key of an app in PEM, and the secret that its deliveries are signed with. */
  private_key?: string
  webhook_secret?: string
  /** OAuth application and its authorization. */
  client_secret?: string
  access_token?: string
  refresh_token?: string
  /** The previous refresh token, kept because the answer with its successor may have been lost. */
  former_refresh_token?: string
}

export type ConnectionColumns = Partial<
  Omit<ConnectionRow, 'id' | 'secrets' | 'created_at' | 'updated_at'>
> & {
  secrets?: Secrets
}

/** All connections, oldest first. */
export function listConnections(): ConnectionRow[] {
  return useDatabase().all<ConnectionRow>('SELECT * FROM git_connections ORDER BY created_at, id')
}

export function getConnection(id: string): ConnectionRow | undefined {
  return useDatabase().get<ConnectionRow>('SELECT * FROM git_connections WHERE id = ?', id)
}

/** Adds a connection. */
export function insertConnection(
  columns: Pick<ConnectionRow, 'provider' | 'auth' | 'status'> & ConnectionColumns,
): ConnectionRow {
  const id = newId('gitConnection')
  const now = Date.now()
  const row = { id, ...sealed(columns), created_at: now, updated_at: now }
  const names = Object.keys(row)
  useDatabase().run(
    `INSERT INTO git_connections (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
    ...(Object.values(row) as Value[]),
  )
  announceConnection(id, 'created')
  return getConnection(id)!
}

/**
 * Changes a connection in one write, replacing its secrets as a whole. Returns it, or nothing when it was removed in the
 * meantime.
 */
export function updateConnection(id: string, columns: ConnectionColumns): ConnectionRow | undefined {
  const row = { ...sealed(columns), updated_at: Date.now() }
  const assignments = Object.keys(row).map((name) => `${name} = ?`)
  const changed = useDatabase().run(
    `UPDATE git_connections SET ${assignments.join(', ')} WHERE id = ?`,
    ...(Object.values(row) as Value[]),
    id,
  )
  if (changed > 0) announceConnection(id, 'updated')
  return getConnection(id)
}

/** Removes a connection with its secrets. */
export function deleteConnectionRow(id: string): void {
  if (useDatabase().run('DELETE FROM git_connections WHERE id = ?', id) > 0) announceConnection(id, 'deleted')
}

/** The secrets of a connection. */
export function openSecrets({ secrets }: Pick<ConnectionRow, 'secrets'>): Secrets {
  return secrets === null ? {} : (JSON.parse(useContext().vault.open(secrets)) as Secrets)
}

/** The OAuth application that was once given for an instance. */
export interface ApplicationRow {
  base_url: string
  client_id: string
  client_secret: string
}

export function getApplication(baseUrl: string): ApplicationRow | undefined {
  const row = useDatabase().get<Omit<ApplicationRow, 'client_secret'> & { client_secret: Uint8Array }>(
    'SELECT * FROM git_applications WHERE base_url = ?',
    baseUrl,
  )
  return row && { ...row, client_secret: useContext().vault.open(row.client_secret) }
}

/** Stores the OAuth application of an instance, replacing an earlier one. */
export function keepApplication({ base_url, client_id, client_secret }: ApplicationRow): void {
  useDatabase().run(
    'INSERT OR REPLACE INTO git_applications (base_url, client_id, client_secret) VALUES (?, ?, ?)',
    base_url,
    client_id,
    useContext().vault.seal(client_secret),
  )
}

/** The connection that last read a repository, for those whose address does not say which it is. */
export function readersOfRepositories(): Map<string, string> {
  const rows = useDatabase().all<{ repository: string; connection_id: string }>('SELECT * FROM git_readers')
  return new Map(rows.map(({ repository, connection_id }) => [repository, connection_id]))
}

/** Remembers which connection read a repository; null forgets it. */
export function keepReader(repository: string, connectionId: string | null): void {
  if (connectionId === null) useDatabase().run('DELETE FROM git_readers WHERE repository = ?', repository)
  else
    useDatabase().run(
      'INSERT OR REPLACE INTO git_readers (repository, connection_id) SELECT ?, id FROM git_connections WHERE id = ?',
      repository,
      connectionId,
    )
}

function sealed({ secrets, ...columns }: ConnectionColumns): Record<string, unknown> {
  if (secrets === undefined) return columns
  return { ...columns, secrets: useContext().vault.seal(JSON.stringify(secrets)) }
}

function announceConnection(id: string, action: Change['action']): void {
  announce({ kind: 'git_connection', id, service_id: null, action })
}
