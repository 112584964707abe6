import { useDatabase } from '../context.ts'
import { forgetEvent, nextEvents } from './events.ts'
import { messageOf } from './messages.ts'
import { insertDelivery, notifications, type NotificationRow } from './store.ts'
import type { EventType, Subject } from './types.ts'

/** How many events are handled in one transaction. */
const BATCH = 100

/** Creates messages for what happened, one for each notification that wants it. Every event is handled exactly once. */
export function dispatchEvents(): void {
  for (let left = BATCH; left === BATCH;) {
    left = useDatabase().transaction(() => {
      const events = nextEvents(BATCH)
      const all = events.length === 0 ? [] : notifications.list()
      for (const event of events) {
        forgetEvent(event.sequence)
        const result = messageOf(event)
        if (!result) continue
        for (const notification of all)
          if (wants(notification, event.type, result.subject)) insertDelivery(notification.id, result.message)
      }
      return events.length
    })
  }
}

/** Whether a notification wants an event. An event of the whole server passes a filter only when its type is listed. */
function wants(row: NotificationRow, type: EventType, { environmentId, serviceId }: Subject): boolean {
  if (!row.enabled) return false
  const isNamed = row.events !== null && (JSON.parse(row.events) as string[]).includes(type)
  if (row.events !== null && !isNamed) return false
  if (environmentId === null) return isNamed || (row.environment_id === null && row.services === null)
  if (row.environment_id !== null && row.environment_id !== environmentId) return false
  return (
    row.services === null ||
    (serviceId !== null && (JSON.parse(row.services) as string[]).includes(serviceId))
  )
}
