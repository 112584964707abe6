import { currentActor } from '../audit/recording.ts'
import { useDatabase } from '../context.ts'
import type { ServiceEventType } from './types.ts'
import type { ServiceEventDetails } from './schema.ts'

/** A row of `service_events`. Times are milliseconds. */
export interface ServiceEventRow {
  /** The order of events of all services; an event that repeats is the newest of its service. */
  sequence: number
  id: string
  service_id: string
  at: number
  type: ServiceEventType
  deploy_id: string | null
  instance: string | null
  /** JSON of ServiceEventDetails, with nulls. */
  details: string
  /** JSON of Actor; null for the server itself. */
  actor: string | null
  /** How often it happened in a row. */
  count: number
  /** When it happened first, if it happened more than once. */
  first_at: number | null
}

interface Facts {
  deployId?: string
  instance?: string
  details?: ServiceEventDetails
}

/** How many names an event lists of what changed together. */
const MAX_NAMES = 50

/**
 * Puts what happened into the timeline of a service, or of each service that is linked to an env group: `holder` is the id of
 * either. Call it in the transaction of the change. It was done by whoever does the current action, or by the server itself.
 */
export function recordServiceEvent(
  holder: string,
  type: ServiceEventType,
  { deployId, instance, details = {} }: Facts = {},
): void {
  useDatabase().run(
    `INSERT INTO service_events (service_id, type, deploy_id, instance, details, actor)
     SELECT id, ?2, ?3, ?4, json_patch(?5, json_object('env_group', (SELECT name FROM env_groups WHERE id = ?1))), ?6
     FROM services WHERE id = ?1 OR id IN (SELECT service_id FROM env_group_links WHERE group_id = ?1)`,
    holder,
    type,
    deployId ?? null,
    instance ?? null,
    JSON.stringify(details),
    currentActorText(),
  )
}

/** Who does the current action, as it is stored; null for the server itself. */
export function currentActorText(): string | null {
  const actor = currentActor()
  return actor && JSON.stringify(actor)
}

/** The names of what changed together that an event lists, and how many it leaves out. */
export function listedNames(names: readonly string[]): { names: string[]; more?: number } {
  const more = names.length - MAX_NAMES
  return { names: names.slice(0, MAX_NAMES), ...(more > 0 ? { more } : {}) }
}

/** Which events of a service are wanted. */
interface Wanted {
  /** A type, or what comes before the dot. */
  type?: string | undefined
  /** Only those before the event with this sequence. */
  before?: number | undefined
  limit: number
}

/** The newest events of a service, newest first. */
export function listServiceEvents(serviceId: string, { type, before, limit }: Wanted): ServiceEventRow[] {
  return useDatabase().all<ServiceEventRow>(
    `SELECT * FROM service_events WHERE service_id = ?1 AND sequence < ?2
       AND (?3 IS NULL OR type = ?3 OR substr(type, 1, length(?3) + 1) = ?3 || '.')
     ORDER BY sequence DESC LIMIT ?4`,
    serviceId,
    before ?? Number.MAX_SAFE_INTEGER,
    type ?? null,
    limit,
  )
}

/** The place of an event of a service in the order of events; undefined when it has no such event any more. */
export function serviceEventPlace(serviceId: string, id: string): number | undefined {
  return useDatabase().get<{ sequence: number }>(
    'SELECT sequence FROM service_events WHERE id = ? AND service_id = ?',
    id,
    serviceId,
  )?.sequence
}

/** Removes at most so many of the events before a moment; returns how many it removed. */
export function deleteServiceEventsBefore(moment: number, limit: number): number {
  return useDatabase().run(
    'DELETE FROM service_events WHERE sequence IN (SELECT sequence FROM service_events WHERE at < ? ORDER BY at LIMIT ?)',
    moment,
    limit,
  )
}
