import { useWorld } from '#daemon/index.ts'
import { openDatastoreShell } from '#daemon/shells/datastore-shell.ts'
import { findDatastore } from '#server/datastores/operations.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { openerOf } from '#server/http/opener.ts'
import { InEnvironment } from '#server/http/query.ts'
import { IdOrName } from '#server/schema.ts'
import { DatastoreShellInput, openedAs, Shell } from '#server/shells/schema.ts'

export default defineEndpoint({
  summary: 'Open the client of a datastore',
  description:
    'Starts psql or valkey-cli in the container of the datastore, signed in, and answers with the ticket for its WebSocket. At most 5 shells are open at a time. It takes a session or a token that sees secrets.',
  auth: 'token',
  least: 'full',
  within: 'service',
  status: 201,
  audit: 'shell.opened',
  changes: openedAs,
  params: IdOrName,
  query: InEnvironment,
  body: DatastoreShellInput,
  response: Shell,
  errors: ['forbidden', 'conflict', 'runtime_error', 'second_factor_required'],
  handler: ({ event, principal, params, query, body }) =>
    openDatastoreShell(
      useWorld(),
      findDatastore(params.id, query.environment),
      body,
      openerOf(event, principal),
    ),
})
