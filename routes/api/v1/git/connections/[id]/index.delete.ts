import { deleteConnection, findConnection } from '#server/git/operations.ts'
import { ConnectionDeletion, ConnectionRef } from '#server/git/schema.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Remove a git connection and its secrets',
  description:
    'Without `force`, refused while services are cloned with it. The authorization at the provider stays.',
  auth: 'token',
  least: 'full',
  params: ConnectionRef,
  query: ConnectionDeletion,
  errors: ['conflict'],
  handler: ({ params, query }) => deleteConnection(findConnection(params.id), query.force),
})
