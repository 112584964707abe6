import { z } from 'zod'
import { DeliveriesQuery, Delivery } from '#server/hooks/delivery.ts'
import { listDeliveries } from '#server/hooks/log.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'List the deliveries of the push webhook, newest first',
  description:
    'The last 200 that were proved by a secret. Of those that were refused the last 50 since the server started: they take at most a fifth of the answer while there are others, unless they are asked for.',
  auth: 'token',
  query: DeliveriesQuery,
  response: z.array(Delivery),
  handler: ({ query }) => listDeliveries(query.limit, query.verdict),
})
