import { setImmediate } from 'node:timers/promises'
import type { Channel } from '../control/channel.ts'
import type { WorkerReport } from '../control/worker-messages.ts'
import type { Ledger, Sums, Tally } from '../counts.ts'

/** Max rows of one report: requests wait while it is written. */
const MAX_ROWS = 500

/** Reports the counts to one supervisor: everything once, then the changes. */
export class Reporter {
  readonly #channel: Channel
  #unreported: Set<Tally>
  #lastRest = ''

  constructor(channel: Channel, ledger: Ledger) {
    this.#channel = channel
    this.#unreported = new Set([...ledger.all()].filter(({ row }) => row !== null))
  }

  /** Marks rows that have changed as to be reported. */
  note(changed: Iterable<Tally>): void {
    for (const tally of changed) this.#unreported.add(tally)
  }

  /** Reports everything that is outstanding, in turns short enough for requests. `view` is the rest of the report. */
  async report(view: () => Omit<WorkerReport, 'sums'>): Promise<void> {
    while (this.reportSome(view)) await setImmediate()
  }

  /** Reports some rows; true when there are more. */
  reportSome(view: () => Omit<WorkerReport, 'sums'>): boolean {
    const rest = view()
    const text = JSON.stringify(rest)
    if (this.#unreported.size === 0 && text === this.#lastRest) return false
    this.#lastRest = text
    this.#channel.event('counts', { ...rest, sums: this.#take() } satisfies WorkerReport)
    return this.#unreported.size > 0
  }

  #take(): Sums {
    const sums: Sums = {}
    let rows = 0
    for (const tally of this.#unreported) {
      if (rows++ === MAX_ROWS) break
      sums[tally.id] = tally.row!
      this.#unreported.delete(tally)
    }
    return sums
  }
}
