import { testNotification } from '#daemon/notifications/delivery.ts'
import { TestResult } from '#server/destinations/schema.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { leftSignal } from '#server/http/event-stream.ts'
import { findNotification } from '#server/notifications/operations.ts'
import { NotificationPath } from '#server/notifications/schema.ts'
import { assertUnfenced } from '#server/restore/fence.ts'

export default defineEndpoint({
  summary: 'Send a test message',
  description: 'It is sent at once, is not retried, and does not appear among the deliveries.',
  auth: 'token',
  least: 'full',
  params: NotificationPath,
  response: TestResult,
  errors: ['conflict'],
  handler({ event, params }) {
    const notification = findNotification(params.id)
    assertUnfenced()
    return testNotification(notification, leftSignal(event))
  },
})
