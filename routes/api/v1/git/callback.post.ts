import { handleCallback } from '#server/git/callback.ts'
import { Authorization, CallbackInput } from '#server/git/schema.ts'
import { viewConnection } from '#server/git/view.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Continue an authorization with what the provider sent back',
  description:
    'A `state` works once, within an hour. Without it, an `installation_id` refreshes its connection.',
  auth: 'token',
  audit: 'git_connection.created',
  least: 'full',
  body: CallbackInput,
  response: Authorization,
  errors: ['git_application_required', 'git_authorization_rejected', 'git_provider_unavailable', 'not_found'],
  async handler({ body }) {
    const step = await handleCallback(body)
    return { ...step, connection: viewConnection(step.connection) }
  },
})
