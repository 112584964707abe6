import { EventEmitter } from 'node:events'
import { useDatabase } from '../context.ts'
import type { EventType } from './types.ts'

/** An event for which no messages were created yet. Most are written by triggers of the database. */
export interface PendingEvent {
  sequence: number
  type: EventType
  /** The id or name of what it happened to. */
  subject: string
  detail: string | null
  at: number
}

const listeners = new EventEmitter()

/** Records an event. */
export function emitEvent(type: EventType, subject: string, detail: string | null = null): void {
  useDatabase().run('INSERT INTO happenings (type, subject, detail) VALUES (?, ?, ?)', type, subject, detail)
  listeners.emit('event')
}

/** Calls `listener` when an event was recorded. */
export function onEvent(listener: () => void): () => void {
  listeners.on('event', listener)
  return () => listeners.off('event', listener)
}

/** The oldest events for which no messages were created. */
export function nextEvents(limit: number): PendingEvent[] {
  return useDatabase().all<PendingEvent>('SELECT * FROM happenings ORDER BY sequence LIMIT ?', limit)
}

export function forgetEvent(sequence: number): void {
  useDatabase().run('DELETE FROM happenings WHERE sequence = ?', sequence)
}

/** What was last reported about something; null for nothing. */
export function lastReported(key: string): string | null {
  return useDatabase().get<{ value: string }>('SELECT value FROM told WHERE key = ?', key)?.value ?? null
}

/** Remembers what was last reported about something; null forgets it. */
export function setReported(key: string, value: string | null): void {
  if (value === null) useDatabase().run('DELETE FROM told WHERE key = ?', key)
  else
    useDatabase().run(
      'INSERT INTO told (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2',
      key,
      value,
    )
}
