import { timestamp } from '../clock.ts'
import { nodeName } from '../nodes/store.ts'
import type { Move } from './schema.ts'
import type { MoveRow } from './store.ts'

/** The last move of something as the API returns it. */
export function viewMove(row: MoveRow | undefined): Move | null {
  if (!row) return null
  const { status, done_bytes, total_bytes, error } = row
  return {
    from_node: row.from_node_id,
    to_node: row.to_node_id,
    to_node_name: nodeName(row.to_node_id),
    from_backup: row.from_backup === 1,
    status,
    done_bytes,
    total_bytes,
    error,
    started_at: timestamp(row.started_at),
    finished_at: timestamp(row.finished_at),
  }
}
