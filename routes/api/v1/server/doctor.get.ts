import { z } from 'zod'
import { examineServer } from '#daemon/doctor/server.ts'
import { useWorld } from '#daemon/index.ts'
import { Finding } from '#server/doctor/schema.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Examine the server and its host',
  description:
    'Takes at most 3 s and changes nothing. Requests that come meanwhile share one examination. The order of the checks is always the same.',
  auth: 'token',
  least: 'read',
  response: z.array(Finding),
  handler: () => examineServer(useWorld()),
})
