import { defineEndpoint } from '#server/http/endpoint.ts'
import { deleteNotification, findNotification } from '#server/notifications/operations.ts'
import { NotificationPath } from '#server/notifications/schema.ts'

export default defineEndpoint({
  summary: 'Delete a notification',
  description: 'Messages that are still pending are not sent.',
  auth: 'token',
  least: 'full',
  params: NotificationPath,
  handler: ({ params }) => deleteNotification(findNotification(params.id)),
})
