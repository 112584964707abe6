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
 * The sums of all workers that ever were since the data plane's start. They are kept in a file, so that a new
 * supervisor goes on where a dead one stopped and no sum falls.
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
  /** Before, the file still has what the supervisor before left. */
  #begun = false
  #abandoned = false

  constructor(directory: string) {
    this.#file = join(directory, 'counts.json')
  }

  /**
   * Begins: with the sums of the supervisor before, when workers of its data plane still run, else anew. `running` are
   * the incarnations of those workers; the sums of others go to those of the ended.
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

  /** Takes rows of a worker, which replace those that it told before. */
  report({ incarnation, sums }: WorkerReport): void {
    this.#note(incarnation, sums)
    this.#changed = true
  }

  /** Adds a worker that runs no more to the sums of the ended. */
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

  /** Throws when a worker's last counts cannot be kept yet: it asks again. */
  keep(): void {
    if (!this.#begun) throw new ChannelError('failed', 'the counts of before are not read yet')
    this.save()
  }

  save(): void {
    if (!this.#begun || !this.#changed || this.#abandoned) return
    try {
      writeAtomically(this.#file, JSON.stringify(this.#page))
      this.#changed = false
    } catch (error) {
      // A full disk is no reason to count no more.
      log('error', 'the counts cannot be saved', { error: messageOf(error) })
    }
  }

  /** Saves no more: the file, if there is one, is another's. */
  abandon(): void {
    this.#abandoned = true
  }

  #note(incarnation: string, sums: Sums): void {
    Object.assign((this.#page.workers[incarnation] ??= {}), sums)
  }
}
