import { findConnection, repositoriesOf } from '#server/git/operations.ts'
import { ConnectionRef, Repositories } from '#server/git/schema.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'List the repositories that a git connection may read, most recently updated first',
  description: 'Asks the provider on every call; returns at most 1,000. Use a `clone_url` as `repo_url`.',
  auth: 'token',
  least: 'read',
  params: ConnectionRef,
  response: Repositories,
  errors: ['git_authorization_rejected', 'git_provider_unavailable'],
  handler: ({ params }) => repositoriesOf(findConnection(params.id)),
})
