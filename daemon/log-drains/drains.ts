import { onChange } from '#server/changes.ts'
import { onDrainsChanged } from '#server/log-drains/operations.ts'
import { drains } from '#server/log-drains/store.ts'
import { Drain } from './drain.ts'

/** Runs a sender for each enabled log drain. */
export class LogDrains {
  readonly #drains = new Map<string, { drain: Drain; version: number }>()
  readonly #stops: (() => void)[]
  #isStopped = false

  constructor() {
    this.#stops = [
      onDrainsChanged(() => void this.#look(true)),
      onChange(({ kind, action }) => {
        if (kind === 'service' && action === 'created') void this.#look(false)
      }),
    ]
    // After a start of the server, services without a position are those that were created just before it stopped.
    void this.#look(false)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    for (const stop of this.#stops) stop()
    await Promise.all([...this.#drains.values()].map(({ drain }) => drain.stop()))
  }

  /** With `startsNow`, services that are added by a change of the drain begin with what they print from now on. */
  async #look(startsNow: boolean): Promise<void> {
    if (this.#isStopped) return
    const rows = drains.list().filter(({ enabled }) => enabled === 1)
    for (const [id, { drain, version }] of this.#drains) {
      if (rows.some((row) => row.id === id && row.updated_at === version)) continue
      this.#drains.delete(id)
      void drain.stop()
    }
    for (const row of rows) {
      const known = this.#drains.get(row.id) ?? { drain: new Drain(row), version: row.updated_at }
      this.#drains.set(row.id, known)
      known.drain.follow(row, startsNow)
    }
  }
}
