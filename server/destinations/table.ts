import { useDatabase } from '../context.ts'
import type { Value } from '../database/index.ts'

/** The columns that the rows of all destinations have. Times are milliseconds. */
export interface DestinationRow {
  id: string
  name: string
  environment_id: string | null
  /** JSON list of ids; null for all. */
  services: string | null
  enabled: number
  created_at: number
  updated_at: number
}

/** The table of one kind of destination. */
export class DestinationTable<Row extends DestinationRow> {
  readonly #name: string

  constructor(name: 'notifications' | 'log_drains') {
    this.#name = name
  }

  /** All destinations, by name. */
  list(): Row[] {
    return useDatabase().all<Row>(`SELECT * FROM ${this.#name} ORDER BY name, id`)
  }

  get(id: string): Row | undefined {
    return useDatabase().get<Row>(`SELECT * FROM ${this.#name} WHERE id = ?`, id)
  }

  insert(row: Row): void {
    const columns = Object.keys(row)
    useDatabase().run(
      `INSERT INTO ${this.#name} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
      ...(Object.values(row) as Value[]),
    )
  }

  update(id: string, columns: Partial<Row>): void {
    const set = Object.keys(columns).map((column) => `${column} = ?`)
    useDatabase().run(
      `UPDATE ${this.#name} SET ${set.join(', ')} WHERE id = ?`,
      ...(Object.values(columns) as Value[]),
      id,
    )
  }

  remove(id: string): void {
    useDatabase().run(`DELETE FROM ${this.#name} WHERE id = ?`, id)
  }
}
