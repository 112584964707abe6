import type { Tally } from '../counts.ts'
import type { TargetState } from '../protocol.ts'
import type { Site } from '../sites/site.ts'
import type { Instance } from './instance.ts'

/** A target of the table in use. The object stays the same while the table has its key. */
export class TargetRoute {
  state: TargetState = 'serving'
  instances: readonly Instance[] = []
  /** Answers in place of instances. */
  site: Site | null = null
  /** The origin that requests are sent on to in place of instances. */
  redirect: string | null = null
  /** What its instances answer is compressed for who takes that. */
  compression = false
  counts: Tally
  #turn = 0

  constructor(counts: Tally) {
    this.counts = counts
  }

  /** The instance with the fewest open requests, equals in turn; never `except`. */
  choose(now: number, except: Instance | null): Instance | null {
    let best: Instance | null = null
    let bestRank = Infinity
    const count = this.instances.length
    if (count > 1) this.#turn = (this.#turn + 1) % count
    for (let step = 0; step < count; step++) {
      const instance = this.instances[(this.#turn + step) % count]!
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
}
