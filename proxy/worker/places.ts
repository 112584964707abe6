import type { SharedCounts } from '../control/shared-counts.ts'
import { log, messageOf } from '../log.ts'

/**
 * The part of a network's allowance by which all workers together may be off: a worker reports only what goes beyond its share
 * of that, since most networks have few connections.
 */
const UNREPORTED_PART = 1 / 8

interface Place {
  open: number
  /** Those that the others know of. */
  reported: number
}

/** How many connections each network has: those of this worker, and those that the others have reported. */
export class Places {
  #shared: SharedCounts | null
  readonly #workers: number
  readonly #networks = new Map<string, Place>()

  /** `shared` by `workers`; without it a worker counts for itself. */
  constructor(shared: SharedCounts | null = null, workers = 1) {
    this.#shared = shared
    this.#workers = workers
  }

  /** Counts one more of a network; false when it has `most` of them. */
  take(network: string, most: number): boolean {
    const place = this.#networks.get(network) ?? { open: 0, reported: 0 }
    const open = place.open + 1
    if (open > most) return false
    if (open > place.reported + this.#unreported(most)) {
      if (this.#others(network) + open > most) return false
      this.#report(network, place, open)
    }
    place.open = open
    if (open === 1) this.#networks.set(network, place)
    return true
  }

  /** One of a network has ended. */
  leave(network: string, most: number): void {
    const place = this.#networks.get(network)!
    const open = --place.open
    if (open === 0) this.#networks.delete(network)
    if (place.reported > 0 && (open === 0 || open < place.reported - this.#unreported(most)))
      this.#report(network, place, open)
  }

  #unreported(most: number): number {
    return Math.floor((most * UNREPORTED_PART) / this.#workers)
  }

  #others(network: string): number {
    return this.#try((shared) => shared.others(network)) ?? 0
  }

  #report(network: string, place: Place, count: number): void {
    this.#try((shared) => shared.report(network, count - place.reported))
    place.reported = count
  }

  /** Where the host's memory is full, a worker counts for itself from then on. */
  #try<T>(use: (shared: SharedCounts) => T): T | null {
    try {
      return this.#shared && use(this.#shared)
    } catch (error) {
      log('error', 'a worker cannot count with the others', { error: messageOf(error) })
      this.#shared = null
      return null
    }
  }
}
