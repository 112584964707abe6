const MINUTE_MS = 60_000

/** How often a name that does not lead here is looked at, by how long that has been so. */
const STEPS = [
  { untilMs: 10 * MINUTE_MS, everyMs: 5_000 },
  { untilMs: 70 * MINUTE_MS, everyMs: MINUTE_MS },
  { untilMs: Infinity, everyMs: 10 * MINUTE_MS },
]

/** When each of some names is looked at next. It forgets at a restart: then everything is looked at once. */
export class Looks {
  readonly #settledMs: number
  readonly #now: () => number
  readonly #names = new Map<string, { unsettledSince: number; nextAt: number }>()

  /** `settledMs`: how often what leads here is looked at again. `now` is monotonic milliseconds. */
  constructor(settledMs: number, now: () => number = () => performance.now()) {
    this.#settledMs = settledMs
    this.#now = now
  }

  isDue(name: string): boolean {
    return (this.#names.get(name)?.nextAt ?? -Infinity) <= this.#now()
  }

  /** Whether the last look, which still holds, found a name here. */
  isHere(name: string): boolean {
    return this.#names.get(name)?.unsettledSince === Infinity && !this.isDue(name)
  }

  /** Those of some names that are due, the longest unseen first, else in their order. */
  dueOf<Item extends { id: string }>(items: readonly Item[]): Item[] {
    const nextAt = ({ id }: Item) => this.#names.get(id)?.nextAt ?? Number.MIN_SAFE_INTEGER
    return items.filter(({ id }) => this.isDue(id)).toSorted((left, right) => nextAt(left) - nextAt(right))
  }

  /** How long until a name is looked at again; 0 when it is due. */
  waitMs(name: string): number {
    return Math.max(0, (this.#names.get(name)?.nextAt ?? -Infinity) - this.#now())
  }

  /** A name was looked at. */
  done(name: string, leadsHere: boolean): void {
    const now = this.#now()
    const before = this.#names.get(name)?.unsettledSince ?? Infinity
    const unsettledSince = leadsHere ? Infinity : Math.min(before, now)
    const step = STEPS.find(({ untilMs }) => now - unsettledSince < untilMs)!
    this.#names.set(name, { unsettledSince, nextAt: now + (leadsHere ? this.#settledMs : step.everyMs) })
  }

  /** Looks at a name soon and often again, as at the first time. */
  forget(name: string): void {
    this.#names.delete(name)
  }

  /** Forgets every name but these. */
  keep(names: ReadonlySet<string>): void {
    for (const name of this.#names.keys()) if (!names.has(name)) this.#names.delete(name)
  }
}
