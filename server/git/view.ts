import { timestamp } from '../clock.ts'
import type { GitConnection } from './schema.ts'
import { servicesByConnection } from './serving.ts'
import { listConnections, type ConnectionRow } from './store.ts'

/** A connection as the API returns it, without any secret. */
export function viewConnection(
  row: ConnectionRow,
  services: Map<string, string[]> = servicesByConnection(),
): GitConnection {
  return {
    id: row.id,
    provider: row.provider,
    auth: row.auth,
    status: row.status,
    account: row.account,
    account_name: row.account_name,
    app_slug: row.app_slug,
    app_url: row.app_url,
    manage_url: row.manage_url,
    base_url: row.base_url,
    client_id: row.client_id,
    push_events: row.push_events === 1,
    repository_selection: row.repository_selection,
    scopes: JSON.parse(row.scopes) as string[],
    services: services.get(row.id) ?? [],
    token_hint: row.token_hint,
    token_expires_at: timestamp(row.token_expires_at),
    created_at: timestamp(row.created_at),
    updated_at: timestamp(row.updated_at),
  }
}

/** All connections as the API returns them. */
export function viewConnections(): GitConnection[] {
  const services = servicesByConnection()
  return listConnections().map((row) => viewConnection(row, services))
}
