import { join } from 'node:path'
import { ChannelError } from '../control/channel.ts'
import type { WorkerReport } from '../control/worker-messages.ts'
import { addSums, viewRow, type Sums } from '../counts.ts'
import { log, messageOf } from '../log.ts'
import { crypto } from '../modules.ts'
import type { Counts } from '../protocol.ts'
import { readJson, writeAtomically } from './files.ts'

interface Page {
  incarnation: string
  started_at: string
  ended: Sums
  workers: Record<string, Sums>
}

/**
 * The sums of all workers, running or ended, since the data plane started. They are kept in a file, so that a new supervisor
 * continues where a dead one stopped and no sum decreases.
 */
export class CountsBook {
  #file: string
  #page: Page = {
    incarnation: crypto().randomUUID(),
    started_at: new Date().toISOString(),
    ended: {},
    workers: {},
  }
  #changed = true
  /** Until then, the file still has the counts of the previous supervisor. */
  #begun = false
  #abandoned = false

  constructor(directory: string) {
    this.#file = join(directory, 'counts.json')
  }

  /**
   * Begins. If workers of the previous supervisor still run, its sums are continued, otherwise all begin at 0. `running` are
   * the incarnations of those workers; the sums of others are added to those of ended workers.
   */
  begin(running: ReadonlySet<string>): void {
    this.#begun = true
    const page = running.size > 0 ? (readJson(this.#file) as Page | null) : null
    if (!page) return
    const reported = this.#page.workers
    this.#page = page
    for (const incarnation of Object.keys(page.workers)) {
      if (!running.has(incarnation)) this.close(incarnation)
    }
    for (const [incarnation, sums] of Object.entries(reported)) this.#note(incarnation, sums)
  }

  /** Takes rows of a worker, which replace the ones it reported before. */
  report({ incarnation, sums }: WorkerReport): void {
    this.#note(incarnation, sums)
    this.#changed = true
  }

  /** Adds a worker that has ended to the sums of ended workers. */
  close(incarnation: string): void {
    addSums(this.#page.ended, this.#page.workers[incarnation] ?? {})
    delete this.#page.workers[incarnation]
    this.#changed = true
  }

  view(): Pick<Counts, 'incarnation' | 'started_at' | 'targets'> {
    const total: Sums = {}
    addSums(total, this.#page.ended)
    for (const sums of Object.values(this.#page.workers)) addSums(total, sums)
    const targets = Object.fromEntries(Object.entries(total).map(([id, row]) => [id, viewRow(row)]))
    return { incarnation: this.#page.incarnation, started_at: this.#page.started_at, targets }
  }

  /** Saves a worker's last counts. Throws if that is not possible yet; the worker then asks again. */
  keep(): void {
    if (!this.#begun) throw new ChannelError('failed', 'the previous counts have not been read yet')
    this.save()
  }

  save(): void {
    if (!this.#begun || !this.#changed || this.#abandoned) return
    try {
      writeAtomically(this.#file, JSON.stringify(this.#page))
      this.#changed = false
    } catch (error) {
      // Counting goes on even if the disk is full.
      log('error', 'cannot save the counts', { error: messageOf(error) })
    }
  }

  /** Stops saving: if the file exists, it belongs to another data plane. */
  abandon(): void {
    this.#abandoned = true
  }

  #note(incarnation: string, sums: Sums): void {
    Object.assign((this.#page.workers[incarnation] ??= {}), sums)
  }
}
