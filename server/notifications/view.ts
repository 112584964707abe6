import { timestamp } from '../clock.ts'
import { useDatabase } from '../context.ts'
import type { DeliveryAttempt, Notification, NotificationDelivery } from './schema.ts'
import { openUrl, shownUrl } from './operations.ts'
import type { DeliveryRow, NotificationRow } from './store.ts'
import type { EventType } from './types.ts'

/** A notification as the wire has it. */
export function viewNotification(row: NotificationRow): Notification {
  const url = openUrl(row)
  return {
    id: row.id,
    name: row.name,
    kind: row.kind,
    url: url === null ? null : shownUrl(row.kind, url),
    to: JSON.parse(row.recipients) as string[],
    events: row.events === null ? null : (JSON.parse(row.events) as EventType[]),
    environment: environmentName(row.environment_id),
    services: existingServices(row.services),
    enabled: row.enabled === 1,
    created_at: timestamp(row.created_at),
    updated_at: timestamp(row.updated_at),
  }
}

/** A delivery as the wire has it. */
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

/** The name of an environment; null for none. */
export function environmentName(id: string | null): string | null {
  if (id === null) return null
  return useDatabase().get<{ name: string }>('SELECT name FROM environments WHERE id = ?', id)?.name ?? null
}

/** Of the services that a filter names, those that are still there. */
export function existingServices(services: string | null): string[] | null {
  if (services === null) return null
  return useDatabase()
    .all<{ id: string }>('SELECT id FROM services WHERE id IN (SELECT value FROM json_each(?))', services)
    .map(({ id }) => id)
}
