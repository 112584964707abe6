import { z } from 'zod'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { Notification } from '#server/notifications/schema.ts'
import { listNotifications } from '#server/notifications/store.ts'
import { viewNotification } from '#server/notifications/view.ts'

export default defineEndpoint({
  summary: 'List notifications',
  auth: 'token',
  response: z.array(Notification),
  handler: () => listNotifications().map(viewNotification),
})
