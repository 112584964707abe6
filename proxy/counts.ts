import { LATENCY_BUCKETS_SECONDS, type TargetCounts } from './protocol.ts'

/**
 * One target's sums as plain numbers, which add up element by element: requests by status class 2xx to 5xx, seconds
 * of latency, then the buckets of the histogram.
 */
export type Row = number[]

/** Sums by target id. */
export type Sums = Record<string, Row>

const LATENCY_SUM = 4
const BUCKETS = 5
const ROW_LENGTH = BUCKETS + LATENCY_BUCKETS_SECONDS.length + 1

/** A row of zeros. */
export function emptyRow(): Row {
  return Array.from({ length: ROW_LENGTH }, () => 0)
}

/** Counts an answer with the seconds until its head went out. 101 counts as 2xx. */
export function countAnswer(row: Row, status: number, seconds: number): void {
  countStatus(row, status)
  row[LATENCY_SUM]! += seconds
  let bucket = 0
  while (bucket < LATENCY_BUCKETS_SECONDS.length && seconds > LATENCY_BUCKETS_SECONDS[bucket]!) bucket++
  row[BUCKETS + bucket]!++
}

/** Counts a request that has no latency: an upgrade, or one whose client left before the answer (499). */
export function countStatus(row: Row, status: number): void {
  const position = status < 300 ? 0 : status < 400 ? 1 : status < 500 ? 2 : 3
  row[position]!++
}

/** Adds `sums` to `into`. */
export function addSums(into: Sums, sums: Sums): void {
  for (const [id, row] of Object.entries(sums)) {
    const target = (into[id] ??= emptyRow())
    for (let index = 0; index < ROW_LENGTH; index++) target[index]! += row[index] ?? 0
  }
}

/** The wire shape of a row. */
export function viewRow(row: Row): TargetCounts {
  return {
    status_2xx: row[0]!,
    status_3xx: row[1]!,
    status_4xx: row[2]!,
    status_5xx: row[3]!,
    latency_buckets: row.slice(BUCKETS),
    latency_sum_seconds: row[LATENCY_SUM]!,
  }
}
