import type { SharedCounts } from '../control/shared-counts.ts'
import { log, messageOf } from '../log.ts'

/**
 * Of what a network may have, the part by which all workers together may be off: while a worker's share of that is not
 * used up, it counts for itself, as most networks have little.
 */
const UNTOLD_PART = 1 / 8

interface Place {
  open: number
  /** So many the others know of. */
  told: number
}

/** How many connections each network has: those of this worker, and of the others what they have told. */
export class Places {
  #shared: SharedCounts | null
  readonly #workers: number
  readonly #networks = new Map<string, Place>()

  /** `shared` with so many `workers`; a worker without counts for itself. */
  constructor(shared: SharedCounts | null = null, workers = 1) {
    this.#shared = shared
    this.#workers = workers
  }

  /** Counts one more of a network; false when it has `most` of them. */
  take(network: string, most: number): boolean {
    const place = this.#networks.get(network) ?? { open: 0, told: 0 }
    const open = place.open + 1
    if (open > most) return false
    if (open > place.told + this.#untold(most)) {
      if (this.#others(network) + open > most) return false
      this.#tell(network, place, open)
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
    if (place.told > 0 && (open === 0 || open < place.told - this.#untold(most)))
      this.#tell(network, place, open)
  }

  #untold(most: number): number {
    return Math.floor((most * UNTOLD_PART) / this.#workers)
  }

  #others(network: string): number {
    return this.#try((shared) => shared.others(network)) ?? 0
  }

  #tell(network: string, place: Place, count: number): void {
    this.#try((shared) => shared.tell(network, count - place.told))
    place.told = count
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
