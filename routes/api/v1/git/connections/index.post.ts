import { connectWithToken } from '#server/git/operations.ts'
import { GitConnection, TokenInput } from '#server/git/schema.ts'
import { viewConnection } from '#server/git/view.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Connect an account with a personal access token',
  description:
    'Asks the provider who the token belongs to. GitHub: classic with the scope `repo`, or fine-grained with read access to Contents and Metadata; GitLab: `read_api` and `read_repository`.',
  auth: 'token',
  least: 'full',
  status: 201,
  existing: 'The account was already connected: the token replaced its old one',
  body: TokenInput,
  response: GitConnection,
  errors: ['git_authorization_rejected', 'git_provider_unavailable', 'conflict'],
  async handler({ event, body }) {
    const { connection, isNew } = await connectWithToken(body)
    event.context.existed = !isNew
    return viewConnection(connection)
  },
})
