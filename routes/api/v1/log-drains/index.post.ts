import { defineEndpoint } from '#server/http/endpoint.ts'
import { createDrain, viewDrain } from '#server/log-drains/operations.ts'
import { LogDrain, LogDrainInput } from '#server/log-drains/schema.ts'

export default defineEndpoint({
  summary: 'Create a log drain',
  description:
    'It forwards what services print from now on, and with `audit` the events of the audit log, at least once, even across restarts of the server. While a target is not accepting lines, they wait for as long as they are kept; lines removed before that are counted in `dropped`.',
  auth: 'token',
  least: 'full',
  status: 201,
  body: LogDrainInput,
  response: LogDrain,
  errors: ['not_found'],
  handler: ({ body }) => viewDrain(createDrain(body)),
})
