import { z } from 'zod'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { listDrainDeliveries } from '#server/log-drains/deliveries.ts'
import { findDrain } from '#server/log-drains/operations.ts'
import { LogDrainDelivery, LogDrainPath } from '#server/log-drains/schema.ts'

export default defineEndpoint({
  summary: 'List the deliveries of a log drain',
  description: 'The newest 100, newest first. Consecutive attempts with the same result are one entry.',
  auth: 'token',
  least: 'read',
  params: LogDrainPath,
  response: z.array(LogDrainDelivery),
  handler: ({ params }) => listDrainDeliveries(findDrain(params.id).id),
})
