import { defineEndpoint } from '#server/http/endpoint.ts'
import { deleteDrain, findDrain } from '#server/log-drains/operations.ts'
import { LogDrainPath } from '#server/log-drains/schema.ts'

export default defineEndpoint({
  summary: 'Delete a log drain',
  auth: 'token',
  least: 'full',
  params: LogDrainPath,
  handler: ({ params }) => deleteDrain(findDrain(params.id)),
})
