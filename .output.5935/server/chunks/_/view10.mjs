import { I as timestamp } from '../nitro/nitro.mjs';
import { e as servicesByConnection, l as listConnections } from './serving.mjs';

function viewConnection(row, services = servicesByConnection()) {
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
    scopes: JSON.parse(row.scopes),
    services: services.get(row.id) ?? [],
    token_hint: row.token_hint,
    token_expires_at: timestamp(row.token_expires_at),
    created_at: timestamp(row.created_at),
    updated_at: timestamp(row.updated_at)
  };
}
function viewConnections() {
  const services = servicesByConnection();
  return listConnections().map((row) => viewConnection(row, services));
}

export { viewConnections as a, viewConnection as v };
