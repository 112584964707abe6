import { timestamp } from '../clock.ts'
import { useDatabase } from '../context.ts'
import type { LogDrainDelivery } from './schema.ts'

/** Of one drain; the newest are kept. */
const KEPT = 100
/** What goes on for longer than this begins a row of its own, so that the rows tell when. */
const ROW_MS = 600_000

interface DeliveryRow extends Omit<LogDrainDelivery, 'began_at' | 'ended_at'> {
  began_at: number
  ended_at: number
}

/** Records what became of lines; what ended as the attempt before it did is added to that. */
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

/** What became of a drain's lines, newest first. */
export function listDrainDeliveries(drainId: string): LogDrainDelivery[] {
  return useDatabase()
    .all<DeliveryRow>(
      `SELECT status, lines, attempts, error, began_at, ended_at FROM log_drain_deliveries
       WHERE drain_id = ? ORDER BY sequence DESC`,
      drainId,
    )
    .map((row) => ({ ...row, began_at: timestamp(row.began_at), ended_at: timestamp(row.ended_at) }))
}
