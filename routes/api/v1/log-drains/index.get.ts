import { z } from 'zod'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { viewDrain } from '#server/log-drains/operations.ts'
import { LogDrain } from '#server/log-drains/schema.ts'
import { drains } from '#server/log-drains/store.ts'

export default defineEndpoint({
  summary: 'List log drains',
  auth: 'token',
  least: 'read',
  response: z.array(LogDrain),
  handler: () => drains.list().map(viewDrain),
})
