import { z } from 'zod'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { Notification } from '#server/notifications/schema.ts'
import { notifications } from '#server/notifications/store.ts'
import { viewNotification } from '#server/notifications/view.ts'

export default defineEndpoint({
  summary: 'List notifications',
  auth: 'token',
  least: 'read',
  response: z.array(Notification),
  handler: () => notifications.list().map(viewNotification),
})
