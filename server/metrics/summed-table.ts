import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { spansOf, type Window } from './steps.ts'

type Sums<C extends string> = Record<C, number>

/**
 * A table with sums of readings: a row for each length of step, series and start of a step. Readings can be added to a step
 * one by one, even after a restart.
 */
export class SummedTable<C extends string> {
  readonly #database: DatabaseSync
  readonly #name: string
  readonly #columns: readonly C[]
  readonly #statements = new Map<string, StatementSync>()

  constructor(database: DatabaseSync, name: string, columns: readonly C[]) {
    this.#database = database
    this.#name = name
    this.#columns = columns
    database.exec(
      `CREATE TABLE IF NOT EXISTS ${name} (seconds INTEGER NOT NULL, series TEXT NOT NULL, at INTEGER NOT NULL,
       ${columns.map((column) => `${column} REAL NOT NULL`).join(', ')}, PRIMARY KEY (seconds, series, at)) STRICT, WITHOUT ROWID`,
    )
  }

  /** Adds to the step of `seconds` that starts at `at`. */
  add(seconds: number, series: string, at: number, sums: Sums<C>): void {
    const columns = this.#columns
    this.#prepare(
      `INSERT INTO ${this.#name} VALUES (?, ?, ?, ${columns.map(() => '?').join(', ')})
       ON CONFLICT DO UPDATE SET ${columns.map((column) => `${column} = ${column} + excluded.${column}`).join(', ')}`,
    ).run(seconds, series, at, ...columns.map((column) => sums[column]))
  }

  /** The steps of a series, both ends included, oldest first. */
  steps(seconds: number, series: string, from: number, to: number): (Sums<C> & { at: number })[] {
    return this.#prepare(
      `SELECT * FROM ${this.#name} WHERE seconds = ? AND series = ? AND at BETWEEN ? AND ? ORDER BY at`,
    ).all(seconds, series, from, to) as (Sums<C> & { at: number })[]
  }

  /**
   * Some columns of all series from a time on, summed up over slots of `slotSeconds`, a multiple of `seconds`; in any order.
   * `at` is the start of the first step in the slot.
   */
  sumsSince<K extends C>(
    seconds: number,
    from: number,
    slotSeconds: number,
    columns: readonly K[],
  ): (Sums<K> & { series: string; at: number })[] {
    return this.#prepare(
      `WITH RECURSIVE ${this.#names}
       SELECT step.series, step.at - step.at % ?3 AS slot, min(step.at) AS at,
         ${columns.map((column) => `sum(${column}) AS ${column}`).join(', ')}
       FROM names CROSS JOIN ${this.#name} AS step
       WHERE step.seconds = ?1 AND step.series = names.series AND step.at >= ?2 GROUP BY step.series, slot`,
    ).all(seconds, from, slotSeconds * 1_000) as (Sums<K> & { series: string; at: number })[]
  }

  /** The sums of each series' steps in a window. */
  totals(window: Window): (Sums<C> & { series: string })[] {
    return this.#prepare(
      `WITH RECURSIVE ${this.#names},
         spans (seconds, first, last) AS (
           SELECT value ->> 'seconds', value ->> 'first', value ->> 'last' FROM json_each(?2))
       SELECT names.series, ${this.#columns.map((column) => `sum(${column}) AS ${column}`).join(', ')}
       FROM names CROSS JOIN spans CROSS JOIN ${this.#name} AS step
       WHERE step.seconds = spans.seconds AND step.series = names.series AND step.at BETWEEN spans.first AND spans.last
       GROUP BY names.series`,
    ).all(window.stepSeconds, JSON.stringify(spansOf(window))) as (Sums<C> & { series: string })[]
  }

  /** Creates longer steps from the stored steps of a length that divides theirs. */
  sumUp(from: number, to: number): void {
    const start = `at - at % ${to * 1_000}`
    this.#prepare(
      `INSERT INTO ${this.#name} SELECT ?2, series, ${start}, ${this.#columns.map((column) => `sum(${column})`).join(', ')}
       FROM ${this.#name} WHERE seconds = ?1 GROUP BY series, ${start}`,
    ).run(from, to)
  }

  /** Deletes all steps except these. */
  keep(seconds: number, from: number, to: number): void {
    for (const [comparison, end] of [
      ['<', from],
      ['>', to],
    ] as const)
      this.#prepare(
        `WITH RECURSIVE ${this.#names}
         DELETE FROM ${this.#name} WHERE seconds = ?1 AND series IN (SELECT series FROM names) AND at ${comparison} ?2`,
      ).run(seconds, end)
  }

  /**
   * A query for the series with steps of length ?1. It seeks one after the other by the key, so that it never reads all
   * rows.
   */
  get #names(): string {
    return `names (series) AS (
      SELECT min(series) FROM ${this.#name} WHERE seconds = ?1
      UNION ALL
      SELECT (SELECT min(series) FROM ${this.#name} AS next WHERE next.seconds = ?1 AND next.series > names.series)
      FROM names WHERE names.series IS NOT NULL)`
  }

  #prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql) ?? this.#database.prepare(sql)
    this.#statements.set(sql, known)
    return known
  }
}

/** The columns of values that may be unknown: next to each is the number of times that it was known. */
export type Averaged<C extends string> = C | `${C}_known`

/** All columns for these values. */
export function averaged<C extends string>(names: readonly C[]): Averaged<C>[] {
  return names.flatMap((name) => [name, `${name}_known` as const])
}

/** What these values add to their columns. */
export function known<C extends string>(
  values: Record<C, number | null>,
  names: readonly C[],
): Record<Averaged<C>, number> {
  const entries = names.flatMap((name) => [
    [name, values[name] ?? 0],
    [`${name}_known`, values[name] === null ? 0 : 1],
  ])
  return Object.fromEntries(entries) as Record<Averaged<C>, number>
}

/** The averages of these values; null for a value that was never known. */
export function averages<C extends string>(
  row: Record<Averaged<C>, number>,
  names: readonly C[],
): Record<C, number | null> {
  const entries = names.map((name) => {
    const times = row[`${name}_known`]
    return [name, times === 0 ? null : row[name] / times]
  })
  return Object.fromEntries(entries) as Record<C, number | null>
}
