import { EventEmitter } from 'node:events'
import { timestamp } from '#server/clock.ts'
import type { LogLine } from '#server/log-lines.ts'

/** Of each service; a crash loop makes one a minute at most. */
const MAX_NOTES = 100

const notes = new Map<string, LogLine[]>()
const followers = new EventEmitter().setMaxListeners(0)

/** Writes a line of the server's own into a service's log, such as why an instance ended. Kept in memory, the newest few. */
export function noteInService(serviceId: string, instance: string, text: string): void {
  const line: LogLine = { ts: timestamp(Date.now()), stream: 'system', line: text, instance }
  notes.set(serviceId, [...notesOf(serviceId), line].slice(-MAX_NOTES))
  followers.emit(serviceId, line)
}

/** The server's own lines about a service, oldest first. */
export function notesOf(serviceId: string): LogLine[] {
  return notes.get(serviceId) ?? []
}

/** Forgets the lines of a service that is no more. */
export function forgetNotes(serviceId: string): void {
  notes.delete(serviceId)
}

/** Calls `listener` with each further line; the returned function ends that. */
export function followNotes(serviceId: string, listener: (line: LogLine) => void): () => void {
  followers.on(serviceId, listener)
  return () => followers.off(serviceId, listener)
}
