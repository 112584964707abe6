import { EventEmitter } from 'node:events'
import { useDatabase } from '../context.ts'
import type { EventType } from './types.ts'

/** Something that happened and that no message was created for yet. Most are written by triggers of the database. */
export interface Happening {
  sequence: number
  type: EventType
  /** The id or name of what it happened to. */
  subject: string
  detail: string | null
  at: number
}

const listeners = new EventEmitter()

/** Records that something happened. */
export function happened(type: EventType, subject: string, detail: string | null = null): void {
  useDatabase().run('INSERT INTO happenings (type, subject, detail) VALUES (?, ?, ?)', type, subject, detail)
  listeners.emit('happened')
}

/** Calls `listener` when `happened` has recorded something. */
export function onHappened(listener: () => void): () => void {
  listeners.on('happened', listener)
  return () => listeners.off('happened', listener)
}

/** The oldest ones that no message was created for. */
export function nextHappenings(limit: number): Happening[] {
  return useDatabase().all<Happening>('SELECT * FROM happenings ORDER BY sequence LIMIT ?', limit)
}

export function forgetHappening(sequence: number): void {
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
