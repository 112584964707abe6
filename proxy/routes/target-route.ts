import type { Ledger, Tally } from '../counts.ts'
import { DASHBOARD_TARGET, type Target, type TargetState } from '../protocol.ts'
import type { Site } from '../sites/site.ts'
import { Instance } from './instance.ts'

/** What a target is made into for its requests, with the first of them. */
export interface Made {
  target: Target
  counts: Tally
  instances: readonly Instance[]
}

/** What the targets of a table have in common. */
export interface Targets {
  readonly ledger: Ledger
  /** Those that requests have come for. */
  readonly asked: Set<TargetRoute>
  /** The JSON of those that changed with the table in use and have not been told yet, by key. */
  readonly changes: ReadonlyMap<string, string>
}

/** A target of the table in use. The object stays the same while the table has its key. */
export class TargetRoute {
  /** Answers in place of instances. */
  site: Site | null = null
  readonly key: string
  /** As the table gives it, which is read with the first request: most of a large table get none. */
  #text: string
  #made: Made | null = null
  #targets: Targets
  #turn = 0

  constructor(key: string, text: string, targets: Targets) {
    this.key = key
    this.#text = text
    this.#targets = targets
  }

  get state(): TargetState {
    return this.#make().target.state
  }

  /** The origin that requests are sent on to in place of instances. */
  get redirect(): string | null {
    return this.#make().target.redirect ?? null
  }

  /** What its instances answer is compressed for who takes that. */
  get compression(): boolean {
    return this.#make().target.compression ?? false
  }

  /** It is the control plane itself and no service of a user's. */
  get isDashboard(): boolean {
    return this.#make().target.id === DASHBOARD_TARGET
  }

  get counts(): Tally {
    return this.#make().counts
  }

  get instances(): readonly Instance[] {
    return this.#make().instances
  }

  /** Null before the first request. */
  get made(): Made | null {
    return this.#made
  }

  /** Becomes what the next table says, after requests have come. */
  become(made: Made): void {
    this.#made = made
  }

  /** Is told what it is to be made from. */
  tell(text: string): void {
    this.#text = text
  }

  /** The instance with the fewest open requests, equals in turn; never `except`. */
  choose(now: number, except: Instance | null): Instance | null {
    const { instances } = this
    let best: Instance | null = null
    let bestRank = Infinity
    const count = instances.length
    if (count > 1) this.#turn = (this.#turn + 1) % count
    for (let step = 0; step < count; step++) {
      const instance = instances[(this.#turn + step) % count]!
      if (instance.draining || instance === except) continue
      // An ejected instance is better than none: everything may have been refused for a moment.
      const rank = instance.open + (instance.ejected(now) ? 1e9 : 0)
      if (rank < bestRank) {
        best = instance
        bestRank = rank
      }
    }
    return best
  }

  #make(): Made {
    if (this.#made) return this.#made
    const { asked, changes, ledger } = this.#targets
    const target = JSON.parse(changes.get(this.key) ?? this.#text) as Target
    const instances = target.upstreams.map((upstream) => new Instance(upstream))
    asked.add(this)
    return (this.#made = { target, counts: ledger.of(target.id), instances })
  }
}
