import { takeCallback } from '#server/git/callback.ts'
import { Authorization, CallbackInput } from '#server/git/schema.ts'
import { viewConnection } from '#server/git/view.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Go on with an authorization, by what the provider sent the browser back with',
  description:
    'A `state` works once and for an hour. Without it an `installation_id` reads its connection again.',
  auth: 'token',
  body: CallbackInput,
  response: Authorization,
  errors: ['git_application_required', 'git_authorization_rejected', 'git_provider_unavailable', 'not_found'],
  async handler({ body }) {
    const step = await takeCallback(body)
    return { ...step, connection: viewConnection(step.connection) }
  },
})
