import { useDatabase } from '../context.ts'
import type { Value } from '../database/index.ts'
import { AppError } from '../errors.ts'
import { isId } from '../ids.ts'

/** A row of `blueprints`. Times are milliseconds, booleans 0 or 1. */
export interface BlueprintRow {
  id: string
  name: string
  /** Without credentials. */
  repo_url: string
  /** The address with its credentials, sealed; null when it has none. */
  repo_credentials: Uint8Array | null
  branch: string | null
  path: string | null
  /** Name of the environment; null is production. */
  environment: string | null
  auto_sync: number
  overwrite_variables: number
  /** The commit that was pushed and has not been processed yet. */
  pending_commit: string | null
  /** The digest of the file that was applied last. */
  synced_digest: string | null
  /** A `LastSync` in JSON. */
  last_sync: string | null
  created_at: number
  updated_at: number
}

export type BlueprintColumns = Partial<Omit<BlueprintRow, 'id' | 'created_at'>>

/** The synced blueprint with this id or name. Throws `not_found`. */
export function findBlueprint(idOrName: string): BlueprintRow {
  const column = isId('blueprint', idOrName) ? 'id' : 'name'
  const found = useDatabase().get<BlueprintRow>(`SELECT * FROM blueprints WHERE ${column} = ?`, idOrName)
  if (!found) throw new AppError('not_found', `there is no blueprint ${idOrName}`)
  return found
}

/** Every synced blueprint by name. */
export function listBlueprints(): BlueprintRow[] {
  return useDatabase().all<BlueprintRow>('SELECT * FROM blueprints ORDER BY name')
}

export function insertBlueprint(row: BlueprintRow): void {
  const columns = Object.keys(row)
  useDatabase().run(
    `INSERT INTO blueprints (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    ...(Object.values(row) as Value[]),
  )
}

export function updateBlueprint(id: string, columns: BlueprintColumns): void {
  const names = Object.keys(columns)
  useDatabase().run(
    `UPDATE blueprints SET ${names.map((name) => `${name} = ?`).join(', ')} WHERE id = ?`,
    ...(Object.values(columns) as Value[]),
    id,
  )
}

/** Records that a pushed commit was processed, unless another one was pushed in the meantime. */
export function settlePush(id: string, commit: string): void {
  useDatabase().run(
    'UPDATE blueprints SET pending_commit = NULL WHERE id = ? AND pending_commit = ?',
    id,
    commit,
  )
}

export function deleteBlueprintRow(id: string): void {
  useDatabase().run('DELETE FROM blueprints WHERE id = ?', id)
}
