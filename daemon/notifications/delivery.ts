import { onChange } from '#server/changes.ts'
import { timestamp } from '#server/clock.ts'
import type { TestResult } from '#server/destinations/schema.ts'
import { messageOf } from '#server/errors.ts'
import { newId } from '#server/ids.ts'
import { logger } from '#server/log.ts'
import { dispatchEvents } from '#server/notifications/dispatch.ts'
import { onEvent } from '#server/notifications/events.ts'
import { testMessage } from '#server/notifications/messages.ts'
import {
  dueDelivery,
  dueNotifications,
  nextAttemptAt,
  notifications,
  recordAttempt,
  type DeliveryRow,
  type NotificationRow,
} from '#server/notifications/store.ts'
import type { Message } from '#server/notifications/types.ts'
import { jittered } from '#server/work/backoff.ts'
import type { Task } from '../work/driver.ts'
import { deliver } from './destinations.ts'

const log = logger('notifications')

/** Interval of a pass for changes without an event. */
const PERIOD_MS = 30_000
const SECOND_MS = 1_000
/** The wait after each failed attempt; after the last one the message is given up. */
const RETRY_MS = [5, 60, 300, 1_800, 7_200].map((seconds) => seconds * SECOND_MS)

/**
 * Sends messages about what happened to the destinations of notifications, with retries until they are accepted or the
 * attempts are used up. Each notification sends one message at a time, so one that hangs does not delay the others.
 */
export class Notifier {
  readonly #stops: (() => void)[] = []
  readonly #stopping = new AbortController()
  readonly #sending = new Map<string, Promise<void>>()
  /** By notification, the attempt that could not be recorded yet, for example on a full disk. It is not repeated. */
  readonly #unrecorded = new Map<string, () => void>()
  #timer: NodeJS.Timeout | undefined

  task(wake: () => void): Task {
    this.#stops.push(onChange(wake), onEvent(wake))
    return {
      name: 'notifications',
      everyMs: PERIOD_MS,
      run: async () => {
        clearTimeout(this.#timer)
        dispatchEvents()
        for (const id of dueNotifications(Date.now())) this.#send(id)
        const next = nextAttemptAt()
        if (next !== null) this.#timer = setTimeout(wake, Math.max(1, Math.min(PERIOD_MS, next - Date.now())))
      },
    }
  }

  /** Stops the attempts in progress; the next start makes them again. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer)
    for (const stop of this.#stops) stop()
    this.#stopping.abort()
    await Promise.all(this.#sending.values())
    for (const id of [...this.#unrecorded.keys()]) {
      try {
        this.#record(id)
      } catch (error) {
        log.warn('a message may be sent again', { notification: id, error: messageOf(error) })
      }
    }
  }

  #send(id: string): void {
    if (this.#sending.has(id)) return
    const work = async () => {
      this.#record(id)
      for (let due = dueDelivery(id, Date.now()); due; due = dueDelivery(id, Date.now())) {
        const record = await attempt(due, this.#stopping.signal)
        if (!record) return
        this.#unrecorded.set(id, record)
        this.#record(id)
        if (this.#stopping.signal.aborted) return
      }
    }
    const sending = work()
      .catch((error: unknown) =>
        log.error('a message cannot be sent', { notification: id, error: messageOf(error) }),
      )
      .finally(() => this.#sending.delete(id))
    this.#sending.set(id, sending)
  }

  #record(id: string): void {
    this.#unrecorded.get(id)?.()
    this.#unrecorded.delete(id)
  }
}

/** Sends a test message and returns the result. */
export async function testNotification(row: NotificationRow, signal: AbortSignal): Promise<TestResult> {
  return deliver(row, newId('delivery'), testMessage(row.name), signal)
}

/** Sends a message. Returns a function that records the result; null if it was not sent. */
async function attempt(delivery: DeliveryRow, signal: AbortSignal): Promise<(() => void) | null> {
  const notification = notifications.get(delivery.notification_id)
  if (!notification || signal.aborted) return null
  const at = Date.now()
  const began = performance.now()
  const message = JSON.parse(delivery.message) as Message
  const { ok, status, error } = await deliver(notification, delivery.id, message, signal)
  // Cut off by the stop of the server: the next start sends it.
  if (signal.aborted && !ok) return null
  const retryMs = RETRY_MS[(JSON.parse(delivery.attempts) as unknown[]).length]
  const duration_ms = Math.round(performance.now() - began)
  const next = ok || retryMs === undefined ? null : Date.now() + jittered(retryMs)
  const state = ok ? 'delivered' : next === null ? 'failed' : 'pending'
  return () => recordAttempt(delivery, { at: timestamp(at), status, error, duration_ms }, state, next)
}
