import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { addSums, viewRow, type Sums } from '../counts.ts'
import type { Counts } from '../protocol.ts'
import type { WorkerReport } from '../worker/worker.ts'
import { readJson, writeAtomically } from './files.ts'

interface Page {
  incarnation: string
  started_at: string
  ended: Sums
  workers: Record<string, Sums>
}

/**
 * The sums of all workers that ever were since the data plane's start. They are kept in a file, so that a new
 * supervisor goes on where a dead one stopped and no sum falls.
 */
export class CountsBook {
  #file: string
  #page: Page = { incarnation: randomUUID(), started_at: new Date().toISOString(), ended: {}, workers: {} }
  #changed = true

  constructor(directory: string) {
    this.#file = join(directory, 'counts.json')
  }

  /** Goes on with the sums of the supervisor before: workers of this data plane still run, or it has just handed over. */
  resume(): void {
    const page = readJson(this.#file) as Page | null
    if (page) this.#page = { ...page, workers: { ...page.workers, ...this.#page.workers } }
  }

  /** Takes a worker's sums, which replace those it told before. */
  report({ incarnation, sums }: WorkerReport): void {
    this.#page.workers[incarnation] = sums
    this.#changed = true
  }

  /** Adds workers that run no more to the sums of the ended. */
  fold(running: ReadonlySet<string>): void {
    for (const [incarnation, sums] of Object.entries(this.#page.workers)) {
      if (running.has(incarnation)) continue
      addSums(this.#page.ended, sums)
      delete this.#page.workers[incarnation]
      this.#changed = true
    }
  }

  view(): Pick<Counts, 'incarnation' | 'started_at' | 'targets'> {
    const total: Sums = {}
    addSums(total, this.#page.ended)
    for (const sums of Object.values(this.#page.workers)) addSums(total, sums)
    const targets = Object.fromEntries(Object.entries(total).map(([id, row]) => [id, viewRow(row)]))
    return { incarnation: this.#page.incarnation, started_at: this.#page.started_at, targets }
  }

  save(): void {
    if (!this.#changed) return
    writeAtomically(this.#file, JSON.stringify(this.#page), false)
    this.#changed = false
  }
}
