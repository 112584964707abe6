import { defineEndpoint } from '#server/http/endpoint.ts'
import { createDrain, viewDrain } from '#server/log-drains/operations.ts'
import { LogDrain, LogDrainInput } from '#server/log-drains/schema.ts'

export default defineEndpoint({
  summary: 'Create a log drain',
  description:
    'It sends on what services print from now on, at least once, also across restarts of the server. A target that takes nothing is waited for as long as the lines are kept; what is removed before is counted in `dropped`.',
  auth: 'token',
  status: 201,
  body: LogDrainInput,
  response: LogDrain,
  errors: ['not_found'],
  handler: ({ body }) => viewDrain(createDrain(body)),
})
