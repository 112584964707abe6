import { defineEndpoint } from '#server/http/endpoint.ts'
import { findDrain, viewDrain } from '#server/log-drains/operations.ts'
import { LogDrain, LogDrainPath } from '#server/log-drains/schema.ts'

export default defineEndpoint({
  summary: 'Read a log drain',
  auth: 'token',
  least: 'read',
  params: LogDrainPath,
  response: LogDrain,
  handler: ({ params }) => viewDrain(findDrain(params.id)),
})
