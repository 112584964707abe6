import { useDatabase } from '../context.ts'
import type { Value } from '../database/index.ts'
import type { DrainKind } from './schema.ts'

/** A row of `log_drains`. Times are milliseconds. */
export interface DrainRow {
  id: string
  name: string
  kind: DrainKind
  /** Sealed. */
  url: Uint8Array
  /** Sealed. */
  token: Uint8Array | null
  environment_id: string | null
  /** JSON of ids; null for all. */
  services: string | null
  enabled: number
  sent: number
  dropped: number
  last_error: string | null
  last_sent_at: number | null
  created_at: number
  updated_at: number
}

/** Every log drain, by name. */
export function listDrains(): DrainRow[] {
  return useDatabase().all<DrainRow>('SELECT * FROM log_drains ORDER BY name, id')
}

export function getDrain(id: string): DrainRow | undefined {
  return useDatabase().get<DrainRow>('SELECT * FROM log_drains WHERE id = ?', id)
}

export function insertDrain(row: DrainRow): void {
  const columns = Object.keys(row)
  useDatabase().run(
    `INSERT INTO log_drains (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    ...(Object.values(row) as Value[]),
  )
}

export function updateDrain(id: string, columns: Partial<Omit<DrainRow, 'id'>>): void {
  useDatabase().run(
    `UPDATE log_drains SET ${Object.keys(columns)
      .map((column) => `${column} = ?`)
      .join(', ')} WHERE id = ?`,
    ...(Object.values(columns) as Value[]),
    id,
  )
}

export function deleteDrainRow(id: string): void {
  useDatabase().run('DELETE FROM log_drains WHERE id = ?', id)
}

/** The services whose lines a drain takes. */
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

/** The number of the next line that a drain takes of a service; null when it has taken none yet. */
export function placeOf(drainId: string, serviceId: string): number | null {
  return (
    useDatabase().get<{ next_line: number }>(
      'SELECT next_line FROM log_drain_places WHERE drain_id = ? AND service_id = ?',
      drainId,
      serviceId,
    )?.next_line ?? null
  )
}

/** Says from which line on a drain takes a service's, unless that is known. */
export function beginAt(drainId: string, serviceId: string, line: number): void {
  useDatabase().run(
    'INSERT INTO log_drain_places (drain_id, service_id, next_line) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    drainId,
    serviceId,
    line,
  )
}

/** Records what a target has taken, and that it goes on at a line. */
export function recordSent(drainId: string, serviceId: string, nextLine: number, sent: number): void {
  const database = useDatabase()
  database.transaction(() => {
    setPlace(drainId, serviceId, nextLine)
    database.run(
      'UPDATE log_drains SET sent = sent + ?, last_error = NULL, last_sent_at = ? WHERE id = ?',
      sent,
      Date.now(),
      drainId,
    )
  })
}

/** Records lines that were removed before the target has taken them. */
export function recordDropped(drainId: string, serviceId: string, nextLine: number, dropped: number): void {
  const database = useDatabase()
  database.transaction(() => {
    setPlace(drainId, serviceId, nextLine)
    database.run('UPDATE log_drains SET dropped = dropped + ? WHERE id = ?', dropped, drainId)
  })
}

function setPlace(drainId: string, serviceId: string, nextLine: number): void {
  useDatabase().run(
    'UPDATE log_drain_places SET next_line = ? WHERE drain_id = ? AND service_id = ?',
    nextLine,
    drainId,
    serviceId,
  )
}
