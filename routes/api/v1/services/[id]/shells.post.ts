import { useWorld } from '#daemon/index.ts'
import { openServiceShell } from '#daemon/shells/service-shell.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { openerOf } from '#server/http/opener.ts'
import { InEnvironment } from '#server/http/query.ts'
import { IdOrName } from '#server/schema.ts'
import { findService } from '#server/services/operations.ts'
import { openedAs, Shell, ShellInput } from '#server/shells/schema.ts'

export default defineEndpoint({
  summary: 'Open a shell in a service',
  description:
    'Starts a program with a terminal in an instance, or in a fresh container, and answers with the ticket for its WebSocket. At most 5 shells are open at a time. It takes a session or a token that sees secrets, since a shell sees all variables.',
  auth: 'token',
  least: 'full',
  within: 'service',
  status: 201,
  audit: 'shell.opened',
  changes: openedAs,
  params: IdOrName,
  query: InEnvironment,
  body: ShellInput,
  response: Shell,
  errors: ['forbidden', 'conflict', 'runtime_error', 'second_factor_required'],
  handler: ({ event, principal, params, query, body }) =>
    openServiceShell(useWorld(), findService(params.id, query.environment), body, openerOf(event, principal)),
})
