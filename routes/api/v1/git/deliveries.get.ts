import { z } from 'zod'
import { DeliveriesQuery, Delivery } from '#server/hooks/delivery.ts'
import { listDeliveries } from '#server/hooks/log.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'List the deliveries of the push webhook, newest first',
  description:
    'The last 200 that were signed with a valid secret, and the last 50 refused ones since the server started. Refused ones take at most a fifth of the answer while there are others, unless they are asked for.',
  auth: 'token',
  least: 'read',
  query: DeliveriesQuery,
  response: z.array(Delivery),
  handler: ({ query }) => listDeliveries(query.limit, query.verdict),
})
