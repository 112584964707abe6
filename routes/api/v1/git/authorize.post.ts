import { authorize } from '#server/git/authorize.ts'
import { Authorization, AuthorizeInput } from '#server/git/schema.ts'
import { viewConnection } from '#server/git/view.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Begin, resume or repeat the authorization of a git connection in the browser',
  description:
    'The browser continues to `url`: by a link, or, if `method` is `post`, by a form with the `fields`. The provider sends it back to `redirect_uri`, whose query goes to `/git/callback`.',
  auth: 'token',
  audit: false,
  least: 'full',
  body: AuthorizeInput,
  response: Authorization,
  errors: [
    'git_application_required',
    'git_authorization_rejected',
    'git_provider_unavailable',
    'not_found',
    'conflict',
  ],
  async handler({ body }) {
    const step = await authorize(body)
    return { ...step, connection: viewConnection(step.connection) }
  },
})
