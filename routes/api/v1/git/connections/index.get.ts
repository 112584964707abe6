import { z } from 'zod'
import { GitConnection } from '#server/git/schema.ts'
import { viewConnections } from '#server/git/view.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'List the git connections, including pending ones',
  auth: 'token',
  least: 'read',
  response: z.array(GitConnection),
  handler: () => viewConnections(),
})
