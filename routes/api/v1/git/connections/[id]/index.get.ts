import { findConnection } from '#server/git/operations.ts'
import { ConnectionRef, GitConnection } from '#server/git/schema.ts'
import { viewConnection } from '#server/git/view.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Read a git connection',
  auth: 'token',
  least: 'read',
  params: ConnectionRef,
  response: GitConnection,
  handler: ({ params }) => viewConnection(findConnection(params.id)),
})
