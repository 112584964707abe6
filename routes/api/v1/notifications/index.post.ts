import { defineEndpoint } from '#server/http/endpoint.ts'
import { createNotification } from '#server/notifications/operations.ts'
import { CreatedNotification, NotificationInput } from '#server/notifications/schema.ts'
import { viewNotification } from '#server/notifications/view.ts'

export default defineEndpoint({
  summary: 'Create a notification',
  description:
    'Messages are sent at least once, even across restarts of the server. Without filters it reports everything; an event of the whole server passes a filter by environment or service only when `events` names it.',
  auth: 'token',
  least: 'full',
  status: 201,
  body: NotificationInput,
  response: CreatedNotification,
  errors: ['not_found'],
  handler({ body }) {
    const { row, secret } = createNotification(body)
    return { ...viewNotification(row), secret }
  },
})
