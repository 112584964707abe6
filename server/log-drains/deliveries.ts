import { timestamp } from '../clock.ts'
import { useDatabase } from '../context.ts'
import type { LogDrainDelivery } from './schema.ts'

/** How many rows of a drain are kept; the oldest go first. */
const KEPT = 100
/** Attempts that go on for longer than this begin a new row, so that the rows show when they were. */
const ROW_MS = 600_000

interface DeliveryRow extends Omit<LogDrainDelivery, 'began_at' | 'ended_at'> {
  began_at: number
  ended_at: number
}

/** Records the result of an attempt. An attempt with the same result as the previous one is added to its row. */
export function recordDelivery(
  drainId: string,
  { status, lines, error }: Pick<LogDrainDelivery, 'status' | 'lines' | 'error'>,
): void {
  const database = useDatabase()
  const now = Date.now()
  const added = database.run(
    `UPDATE log_drain_deliveries SET lines = lines + ?1, attempts = attempts + 1, ended_at = ?2
     WHERE sequence = (SELECT max(sequence) FROM log_drain_deliveries WHERE drain_id = ?3)
     AND status = ?4 AND error IS ?5 AND began_at > ?6`,
    lines,
    now,
    drainId,
    status,
    error,
    now - ROW_MS,
  )
  if (added > 0) return
  database.run(
    `INSERT INTO log_drain_deliveries (drain_id, status, lines, error, began_at, ended_at)
     SELECT id, ?2, ?3, ?4, ?5, ?5 FROM log_drains WHERE id = ?1`,
    drainId,
    status,
    lines,
    error,
    now,
  )
  database.run(
    `DELETE FROM log_drain_deliveries WHERE sequence IN
     (SELECT sequence FROM log_drain_deliveries WHERE drain_id = ? ORDER BY sequence DESC LIMIT -1 OFFSET ?)`,
    drainId,
    KEPT,
  )
}

/** The deliveries of a drain, newest first. */
export function listDrainDeliveries(drainId: string): LogDrainDelivery[] {
  return useDatabase()
    .all<DeliveryRow>(
      `SELECT status, lines, attempts, error, began_at, ended_at FROM log_drain_deliveries
       WHERE drain_id = ? ORDER BY sequence DESC`,
      drainId,
    )
    .map((row) => ({ ...row, began_at: timestamp(row.began_at), ended_at: timestamp(row.ended_at) }))
}
