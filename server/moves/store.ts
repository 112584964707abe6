import { useDatabase } from '../context.ts'
import type { MoveStatus } from './states.ts'

/** A row of `moves`: the last move of a datastore, or of a service with its disks, to another node. Times are milliseconds. */
export interface MoveRow {
  /** The id of the datastore or the service. */
  resource_id: string
  from_node_id: string
  to_node_id: string
  /** 1 when the newest backups are restored, since the node of the data is lost. */
  from_backup: 0 | 1
  status: MoveStatus
  /** JSON: the volumes of a service that are being filled, by disk. That of a datastore is in its replacement. */
  volumes: string
  /** How often that of a service was begun. Orderly stops of the server are not counted. */
  tries: number
  done_bytes: number | null
  /** Null while it is not known. */
  total_bytes: number | null
  error: string | null
  started_at: number
  finished_at: number | null
}

export function getMove(resourceId: string): MoveRow | undefined {
  return useDatabase().get<MoveRow>('SELECT * FROM moves WHERE resource_id = ?', resourceId)
}

/** The move of a datastore or a service that is running. */
export function runningMove(resourceId: string): MoveRow | undefined {
  const move = getMove(resourceId)
  return move?.status === 'running' ? move : undefined
}

/** The running moves of services. */
export function runningServiceMoves(): MoveRow[] {
  return useDatabase().all<MoveRow>(
    `SELECT moves.* FROM moves JOIN services ON services.id = resource_id WHERE status = 'running' ORDER BY resource_id`,
  )
}

/** The last move of each service of an environment, by service. */
export function movesOf(environmentId: string): Map<string, MoveRow> {
  const rows = useDatabase().all<MoveRow>(
    'SELECT moves.* FROM moves JOIN services ON services.id = resource_id WHERE environment_id = ?',
    environmentId,
  )
  return new Map(rows.map((row) => [row.resource_id, row]))
}

/** Whether a running move fills this volume. */
export function isBeingMoved(volume: string): boolean {
  return (
    useDatabase().get(
      `SELECT 1 FROM moves LEFT JOIN replacements ON datastore_id = resource_id
       WHERE status = 'running'
         AND (replacements.volume = ?1 OR EXISTS (SELECT 1 FROM json_each(moves.volumes) WHERE value = ?1))`,
      volume,
    ) !== undefined
  )
}

/** Records a move that begins, in place of the one before. */
export function insertMove({
  resource_id,
  from_node_id,
  to_node_id,
  from_backup,
}: Pick<MoveRow, 'resource_id' | 'from_node_id' | 'to_node_id' | 'from_backup'>): void {
  useDatabase().run(
    `INSERT OR REPLACE INTO moves (resource_id, from_node_id, to_node_id, from_backup, status, started_at)
     VALUES (?, ?, ?, ?, 'running', ?)`,
    resource_id,
    from_node_id,
    to_node_id,
    from_backup,
    Date.now(),
  )
}

/** Records another try of a service's move, with new empty volumes by disk. */
export function countMoveTry(serviceId: string, volumes: ReadonlyMap<string, string>): void {
  useDatabase().run(
    'UPDATE moves SET tries = tries + 1, volumes = ?, done_bytes = NULL WHERE resource_id = ?',
    JSON.stringify(Object.fromEntries(volumes)),
    serviceId,
  )
}

/** Takes one try back from each running move that was begun. */
export function takeBackMoveTries(): void {
  useDatabase().run("UPDATE moves SET tries = tries - 1 WHERE status = 'running' AND tries > 0")
}

export function recordMoved(resourceId: string, done: number, total: number | null): void {
  useDatabase().run(
    'UPDATE moves SET done_bytes = ?, total_bytes = ? WHERE resource_id = ?',
    done,
    total,
    resourceId,
  )
}

/** Records the end of a move. Returns false if it was not running any more. */
export function endMove(
  resourceId: string,
  status: Exclude<MoveStatus, 'running'>,
  error: string | null = null,
): boolean {
  return (
    useDatabase().run(
      "UPDATE moves SET status = ?, error = ?, finished_at = ? WHERE resource_id = ? AND status = 'running'",
      status,
      error,
      Date.now(),
      resourceId,
    ) > 0
  )
}

export function forgetMove(resourceId: string): void {
  useDatabase().run('DELETE FROM moves WHERE resource_id = ?', resourceId)
}
