import { timestamp } from '../clock.ts'
import { shownDestination } from '../network/outgoing.ts'
import { viewFrame } from '../destinations/frame.ts'
import type { DeliveryAttempt, Notification, NotificationDelivery } from './schema.ts'
import { openUrl } from './operations.ts'
import type { DeliveryRow, NotificationRow } from './store.ts'
import type { EventType } from './types.ts'

/** A notification as the API returns it. */
export function viewNotification(row: NotificationRow): Notification {
  const url = openUrl(row)
  return {
    ...viewFrame(row),
    kind: row.kind,
    url: url === null ? null : shownDestination(url),
    to: JSON.parse(row.recipients) as string[],
    events: row.events === null ? null : (JSON.parse(row.events) as EventType[]),
  }
}

/** A delivery as the API returns it. */
export function viewDelivery(row: DeliveryRow): NotificationDelivery {
  return {
    id: row.id,
    type: row.type,
    created_at: timestamp(row.created_at),
    status: row.status,
    attempts: JSON.parse(row.attempts) as DeliveryAttempt[],
    next_attempt_at: timestamp(row.next_attempt_at),
  }
}
