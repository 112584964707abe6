import { setImmediate } from 'node:timers/promises'
import type { Channel } from '../control/channel.ts'
import type { WorkerReport } from '../control/worker-messages.ts'
import type { Ledger, Sums, Tally } from '../counts.ts'

/** Rows of one report: more would keep requests waiting while they are written. */
const MAX_ROWS = 500

/** Tells one supervisor what is counted: everything once, then what changes. */
export class Reporter {
  readonly #channel: Channel
  #untold: Set<Tally>
  #told = ''

  constructor(channel: Channel, ledger: Ledger) {
    this.#channel = channel
    this.#untold = new Set([...ledger.all()].filter(({ row }) => row !== null))
  }

  /** Takes note of rows that have changed. */
  note(changed: Iterable<Tally>): void {
    for (const tally of changed) this.#untold.add(tally)
  }

  /** Tells what is not told yet, as many rows a turn as do not hold requests up. `view` is the rest of the report. */
  async tell(view: () => Omit<WorkerReport, 'sums'>): Promise<void> {
    while (this.tellSome(view)) await setImmediate()
  }

  /** Tells some rows; true when there are more. */
  tellSome(view: () => Omit<WorkerReport, 'sums'>): boolean {
    const rest = view()
    const text = JSON.stringify(rest)
    if (this.#untold.size === 0 && text === this.#told) return false
    this.#told = text
    this.#channel.event('counts', { ...rest, sums: this.#take() } satisfies WorkerReport)
    return this.#untold.size > 0
  }

  #take(): Sums {
    const sums: Sums = {}
    let rows = 0
    for (const tally of this.#untold) {
      if (rows++ === MAX_ROWS) break
      sums[tally.id] = tally.row!
      this.#untold.delete(tally)
    }
    return sums
  }
}
