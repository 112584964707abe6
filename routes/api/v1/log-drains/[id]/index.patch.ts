import { defineEndpoint } from '#server/http/endpoint.ts'
import { findDrain, patchDrain, viewDrain } from '#server/log-drains/operations.ts'
import { LogDrain, LogDrainPatch, LogDrainPath } from '#server/log-drains/schema.ts'

export default defineEndpoint({
  summary: 'Change a log drain',
  description: 'A drain that is enabled again continues where it stopped.',
  auth: 'token',
  least: 'full',
  params: LogDrainPath,
  body: LogDrainPatch,
  response: LogDrain,
  handler: ({ params, body }) => viewDrain(patchDrain(findDrain(params.id), body)),
})
