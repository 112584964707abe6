import { LATENCY_BUCKETS_SECONDS } from './latency-buckets.ts'
import type { TargetCounts } from './protocol.ts'

/**
 * The sums of one target as plain numbers, which can be added element by element: requests by status class 2xx to 5xx,
 * seconds of latency, then the buckets of the histogram.
 */
export type Row = number[]

/** Sums by target id. */
export type Sums = Record<string, Row>

const LATENCY_SUM = 4
const BUCKETS = 5
const ROW_LENGTH = BUCKETS + LATENCY_BUCKETS_SECONDS.length + 1

/** Returns a row of zeros. */
function emptyRow(): Row {
  return Array.from({ length: ROW_LENGTH }, () => 0)
}

/** What one worker has counted for one target. */
export class Tally {
  readonly id: string
  /** Most targets of a large table never get a request: their rows are created with the first one. */
  row: Row | null = null
  /** Whether the row has changed since `takeChanged` was last called. */
  changed = false
  #ledger: Ledger

  constructor(id: string, ledger: Ledger) {
    this.id = id
    this.#ledger = ledger
  }

  /** Returns the row for the caller to change, and marks it as changed. */
  touch(): Row {
    if (!this.changed) this.#ledger.changes(this)
    return (this.row ??= emptyRow())
  }
}

/** Everything that one worker has counted. */
export class Ledger {
  #tallies = new Map<string, Tally>()
  #changed: Tally[] = []

  /** Returns the tally of a target: the same one as long as the worker lives. */
  of(id: string): Tally {
    let tally = this.#tallies.get(id)
    if (!tally) this.#tallies.set(id, (tally = new Tally(id, this)))
    return tally
  }

  /** Returns every tally. */
  all(): Iterable<Tally> {
    return this.#tallies.values()
  }

  /** Marks a tally as changed. */
  changes(tally: Tally): void {
    tally.changed = true
    this.#changed.push(tally)
  }

  /** Returns the tallies that changed since the last call. */
  takeChanged(): Tally[] {
    const changed = this.#changed
    this.#changed = []
    for (const tally of changed) tally.changed = false
    return changed
  }
}

/** Counts an answer and the seconds until its head was sent. 101 counts as 2xx. */
export function countAnswer(tally: Tally, status: number, seconds: number): void {
  countStatus(tally, status)
  const row = tally.touch()
  row[LATENCY_SUM]! += seconds
  let bucket = 0
  while (bucket < LATENCY_BUCKETS_SECONDS.length && seconds > LATENCY_BUCKETS_SECONDS[bucket]!) bucket++
  row[BUCKETS + bucket]!++
}

/** Counts a request without a latency: an upgrade, or one whose client left before the answer (499). */
export function countStatus(tally: Tally, status: number): void {
  const position = status < 300 ? 0 : status < 400 ? 1 : status < 500 ? 2 : 3
  tally.touch()[position]!++
}

/** Adds `sums` to `into`. */
export function addSums(into: Sums, sums: Sums): void {
  for (const [id, row] of Object.entries(sums)) {
    const target = (into[id] ??= emptyRow())
    for (let index = 0; index < ROW_LENGTH; index++) target[index]! += row[index] ?? 0
  }
}

/** Returns a row as the protocol shows it. */
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
