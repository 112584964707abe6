import { defineEndpoint } from '#server/http/endpoint.ts'
import { findNotification } from '#server/notifications/operations.ts'
import { Notification, NotificationPath } from '#server/notifications/schema.ts'
import { viewNotification } from '#server/notifications/view.ts'

export default defineEndpoint({
  summary: 'Read a notification',
  auth: 'token',
  least: 'read',
  params: NotificationPath,
  response: Notification,
  handler: ({ params }) => viewNotification(findNotification(params.id)),
})
