import { useDatabase } from '../context.ts'
import { DestinationTable, type DestinationRow } from '../destinations/table.ts'
import { recordDelivery } from './deliveries.ts'
import type { DrainKind } from './schema.ts'

/** A row of `log_drains`. */
export interface DrainRow extends DestinationRow {
  kind: DrainKind
  /** Sealed. */
  url: Uint8Array
  /** Sealed. */
  token: Uint8Array | null
  /** Whether the events of the audit log are sent, too. */
  audit: number
  /** The sequence of the next event that will be sent; null when none are. */
  next_event: number | null
  sent: number
  dropped: number
  last_error: string | null
  last_sent_at: number | null
}

/** In place of the id of a service: the audit log. */
export const AUDIT_LOG = 'audit'

export const drains = new DestinationTable<DrainRow>('log_drains')

/** The services whose lines a drain sends. */
export function servicesOf({ environment_id, services }: DrainRow): string[] {
  return useDatabase()
    .all<{ id: string }>(
      `SELECT id FROM services WHERE deleting = 0 AND (?1 IS NULL OR environment_id = ?1)
       AND (?2 IS NULL OR id IN (SELECT value FROM json_each(?2)))`,
      environment_id,
      services,
    )
    .map(({ id }) => id)
}

/** The number of the next line of a service, or event, that a drain will send; null when it has sent none yet. */
export function placeOf(drainId: string, sourceId: string): number | null {
  if (sourceId === AUDIT_LOG) return drains.get(drainId)?.next_event ?? null
  return (
    useDatabase().get<{ next_line: number }>(
      'SELECT next_line FROM log_drain_places WHERE drain_id = ? AND service_id = ?',
      drainId,
      sourceId,
    )?.next_line ?? null
  )
}

/** Sets from which line on a drain sends a service's lines, unless it is already set. */
export function beginAt(drainId: string, serviceId: string, line: number): void {
  useDatabase().run(
    'INSERT INTO log_drain_places (drain_id, service_id, next_line) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    drainId,
    serviceId,
    line,
  )
}

/** Records what a destination has accepted, and at which line the drain continues. */
export function recordSent(drainId: string, sourceId: string, nextLine: number, sent: number): void {
  const database = useDatabase()
  database.transaction(() => {
    setPlace(drainId, sourceId, nextLine)
    recordDelivery(drainId, { status: 'delivered', lines: sent, error: null })
    database.run(
      'UPDATE log_drains SET sent = sent + ?, last_error = NULL, last_sent_at = ? WHERE id = ?',
      sent,
      Date.now(),
      drainId,
    )
  })
}

/** Records lines that the destination will never get, and why. */
export function recordDropped(
  drainId: string,
  sourceId: string,
  nextLine: number,
  dropped: number,
  error: string,
): void {
  const database = useDatabase()
  database.transaction(() => {
    setPlace(drainId, sourceId, nextLine)
    recordDelivery(drainId, { status: 'dropped', lines: dropped, error })
    database.run('UPDATE log_drains SET dropped = dropped + ? WHERE id = ?', dropped, drainId)
  })
}

function setPlace(drainId: string, sourceId: string, nextLine: number): void {
  // Forwarding of the audit log may have been turned off meanwhile.
  if (sourceId === AUDIT_LOG)
    useDatabase().run(
      'UPDATE log_drains SET next_event = ? WHERE id = ? AND next_event IS NOT NULL',
      nextLine,
      drainId,
    )
  else setLine(drainId, sourceId, nextLine)
}

function setLine(drainId: string, serviceId: string, nextLine: number): void {
  useDatabase().run(
    'UPDATE log_drain_places SET next_line = ? WHERE drain_id = ? AND service_id = ?',
    nextLine,
    drainId,
    serviceId,
  )
}
