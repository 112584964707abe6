import { defineEndpoint } from '#server/http/endpoint.ts'
import { findNotification, patchNotification } from '#server/notifications/operations.ts'
import { Notification, NotificationPatch, NotificationPath } from '#server/notifications/schema.ts'
import { viewNotification } from '#server/notifications/view.ts'

export default defineEndpoint({
  summary: 'Change a notification',
  auth: 'token',
  least: 'full',
  params: NotificationPath,
  body: NotificationPatch,
  response: Notification,
  handler: ({ params, body }) => viewNotification(patchNotification(findNotification(params.id), body)),
})
