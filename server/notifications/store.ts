import { useDatabase } from '../context.ts'
import { DestinationTable, type DestinationRow } from '../destinations/table.ts'
import { newId } from '../ids.ts'
import type { DeliveryAttempt } from './schema.ts'
import type { Message, MessageType, NotificationKind } from './types.ts'

/** A row of `notifications`. */
export interface NotificationRow extends DestinationRow {
  kind: NotificationKind
  /** Sealed, because the URL may be all that is needed to write there. */
  url: Uint8Array | null
  /** JSON of addresses. */
  recipients: string
  /** Sealed. */
  secret: Uint8Array | null
  /** JSON of event types; null for all. */
  events: string | null
}

export const notifications = new DestinationTable<NotificationRow>('notifications')

/** A row of `notification_deliveries`: one message to one notification. */
export interface DeliveryRow {
  sequence: number
  id: string
  notification_id: string
  type: MessageType
  /** JSON of Message. */
  message: string
  status: 'pending' | 'delivered' | 'failed'
  /** JSON of DeliveryAttempt. */
  attempts: string
  next_attempt_at: number | null
  created_at: number
}

/** How many finished deliveries of a notification are kept; the oldest go first. */
const KEPT_DELIVERIES = 100
/** How many messages may wait for a destination that does not answer. Beyond that, the oldest are given up. */
const MAX_PENDING = 1_000

/** Queues a message. */
export function insertDelivery(notificationId: string, message: Message): void {
  const database = useDatabase()
  const now = Date.now()
  database.run(
    `INSERT INTO notification_deliveries (id, notification_id, type, message, status, next_attempt_at, created_at)
     VALUES (?, ?, ?, ?, 'pending', ?, ?)`,
    newId('delivery'),
    notificationId,
    message.type,
    JSON.stringify(message),
    now,
    now,
  )
  database.run(
    `UPDATE notification_deliveries SET status = 'failed', next_attempt_at = NULL WHERE status = 'pending' AND sequence IN
     (SELECT sequence FROM notification_deliveries WHERE notification_id = ? AND status = 'pending'
      ORDER BY sequence DESC LIMIT -1 OFFSET ?)`,
    notificationId,
    MAX_PENDING,
  )
  database.run(
    `DELETE FROM notification_deliveries WHERE status <> 'pending' AND sequence IN
     (SELECT sequence FROM notification_deliveries WHERE notification_id = ? AND status <> 'pending'
      ORDER BY sequence DESC LIMIT -1 OFFSET ?)`,
    notificationId,
    KEPT_DELIVERIES,
  )
}

/** The deliveries of a notification, newest first. */
export function listDeliveries(notificationId: string): DeliveryRow[] {
  return useDatabase().all<DeliveryRow>(
    'SELECT * FROM notification_deliveries WHERE notification_id = ? ORDER BY sequence DESC LIMIT ?',
    notificationId,
    KEPT_DELIVERIES,
  )
}

/**
 * More than any attempt waits, plus the few minutes by which a clock may be corrected. A delivery with a longer wait was
 * written when the clock was ahead.
 */
const LONGEST_WAIT_MS = 3 * 3_600_000
const IS_DUE = `status = 'pending' AND (next_attempt_at <= ?1 OR next_attempt_at > ?1 + ${LONGEST_WAIT_MS})`

/** The notifications that have a delivery whose next attempt is due. */
export function dueNotifications(now: number): string[] {
  return useDatabase()
    .all<{ id: string }>(
      `SELECT DISTINCT notification_id AS id FROM notification_deliveries WHERE ${IS_DUE}`,
      now,
    )
    .map(({ id }) => id)
}

/** The delivery of a notification that has been due the longest. */
export function dueDelivery(notificationId: string, now: number): DeliveryRow | undefined {
  return useDatabase().get<DeliveryRow>(
    `SELECT * FROM notification_deliveries WHERE notification_id = ?2 AND ${IS_DUE}
     ORDER BY next_attempt_at, sequence LIMIT 1`,
    now,
    notificationId,
  )
}

/** When the next attempt of any delivery becomes due; null when none waits. */
export function nextAttemptAt(): number | null {
  return (
    useDatabase().get<{ at: number | null }>(
      "SELECT min(next_attempt_at) AS at FROM notification_deliveries WHERE status = 'pending' AND next_attempt_at > ?",
      Date.now(),
    )?.at ?? null
  )
}

/** Records an attempt and its consequence: another one at a given time, or the end. */
export function recordAttempt(
  delivery: DeliveryRow,
  attempt: DeliveryAttempt,
  status: DeliveryRow['status'],
  nextAttempt: number | null,
): void {
  const attempts = [...(JSON.parse(delivery.attempts) as DeliveryAttempt[]), attempt]
  useDatabase().run(
    "UPDATE notification_deliveries SET attempts = ?, status = ?, next_attempt_at = ? WHERE id = ? AND status = 'pending'",
    JSON.stringify(attempts),
    status,
    nextAttempt,
    delivery.id,
  )
}
