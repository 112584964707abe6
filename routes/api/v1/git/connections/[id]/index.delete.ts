import { deleteConnection, findConnection } from '#server/git/operations.ts'
import { ConnectionDeletion, ConnectionRef } from '#server/git/schema.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Remove a git connection and its secrets',
  description:
    'Refused while the repositories of services are cloned with it unless `force`; what it authorized at the provider stays there.',
  auth: 'token',
  params: ConnectionRef,
  query: ConnectionDeletion,
  errors: ['conflict'],
  handler: ({ params, query }) => deleteConnection(findConnection(params.id), query.force),
})
