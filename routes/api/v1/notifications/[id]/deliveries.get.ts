import { z } from 'zod'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { findNotification } from '#server/notifications/operations.ts'
import { NotificationDelivery, NotificationPath } from '#server/notifications/schema.ts'
import { listDeliveries } from '#server/notifications/store.ts'
import { viewDelivery } from '#server/notifications/view.ts'

export default defineEndpoint({
  summary: 'List the deliveries of a notification',
  description: 'The newest 100, newest first.',
  auth: 'token',
  least: 'read',
  params: NotificationPath,
  response: z.array(NotificationDelivery),
  handler: ({ params }) => listDeliveries(findNotification(params.id).id).map(viewDelivery),
})
