import { defineEndpoint } from '#server/http/endpoint.ts'
import { findDrain, patchDrain, viewDrain } from '#server/log-drains/operations.ts'
import { LogDrain, LogDrainPatch, LogDrainPath } from '#server/log-drains/schema.ts'

export default defineEndpoint({
  summary: 'Change a log drain',
  description: 'One that is turned on again goes on where it stood.',
  auth: 'token',
  params: LogDrainPath,
  body: LogDrainPatch,
  response: LogDrain,
  handler: ({ params, body }) => viewDrain(patchDrain(findDrain(params.id), body)),
})
