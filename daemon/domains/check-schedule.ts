const MINUTE_MS = 60_000

/** How often a name that does not lead here is checked, by how long that has been so. */
const STEPS = [
  { untilMs: 10 * MINUTE_MS, everyMs: 5_000 },
  { untilMs: 70 * MINUTE_MS, everyMs: MINUTE_MS },
  { untilMs: Infinity, everyMs: 10 * MINUTE_MS },
]

/** Schedules the next check of each name. Kept in memory only: after a restart every name is due. */
export class CheckSchedule {
  readonly #settledMs: number
  readonly #now: () => number
  readonly #names = new Map<string, { unsettledSince: number; nextAt: number }>()

  /** `settledMs`: how often a name that leads here is checked again. `now` is monotonic milliseconds. */
  constructor(settledMs: number, now: () => number = () => performance.now()) {
    this.#settledMs = settledMs
    this.#now = now
  }

  isDue(name: string): boolean {
    return (this.#names.get(name)?.nextAt ?? -Infinity) <= this.#now()
  }

  /** Whether the last check, if it is still valid, found that a name leads here. */
  isHere(name: string): boolean {
    return this.#names.get(name)?.unsettledSince === Infinity && !this.isDue(name)
  }

  /** Returns the items that are due, those not checked for the longest time first, else in their order. */
  dueOf<Item extends { id: string }>(items: readonly Item[]): Item[] {
    const nextAt = ({ id }: Item) => this.#names.get(id)?.nextAt ?? Number.MIN_SAFE_INTEGER
    return items.filter(({ id }) => this.isDue(id)).toSorted((left, right) => nextAt(left) - nextAt(right))
  }

  /** Returns how long until a name is checked again; 0 if it is due. */
  waitMs(name: string): number {
    return Math.max(0, (this.#names.get(name)?.nextAt ?? -Infinity) - this.#now())
  }

  /** Records the result of a check. */
  done(name: string, leadsHere: boolean): void {
    const now = this.#now()
    const before = this.#names.get(name)?.unsettledSince ?? Infinity
    const unsettledSince = leadsHere ? Infinity : Math.min(before, now)
    const step = STEPS.find(({ untilMs }) => now - unsettledSince < untilMs)!
    this.#names.set(name, { unsettledSince, nextAt: now + (leadsHere ? this.#settledMs : step.everyMs) })
  }

  /** Makes a name due soon and often again, as if it were new. */
  forget(name: string): void {
    this.#names.delete(name)
  }

  /** Forgets every name but these. */
  keep(names: ReadonlySet<string>): void {
    for (const name of this.#names.keys()) if (!names.has(name)) this.#names.delete(name)
  }
}
