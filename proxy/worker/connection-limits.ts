import type { SharedCounts } from '../control/shared-counts.ts'
import { log, messageOf } from '../log.ts'

/**
 * The part of a network's allowance by which all workers together may be wrong. A worker reports only what exceeds its
 * share of that, since most networks have few connections.
 */
const UNREPORTED_PART = 1 / 8

interface NetworkCount {
  open: number
  /** How many of them the other workers know of. */
  reported: number
}

/** Counts the connections of each network: those of this worker, and those that the others have reported. */
export class ConnectionLimits {
  #shared: SharedCounts | null
  readonly #workers: number
  readonly #networks = new Map<string, NetworkCount>()

  /** `shared` is shared by `workers` workers; without it, a worker counts alone. */
  constructor(shared: SharedCounts | null = null, workers = 1) {
    this.#shared = shared
    this.#workers = workers
  }

  /** Counts one more connection of a network; false when it has `max` of them. */
  take(network: string, max: number): boolean {
    const count = this.#networks.get(network) ?? { open: 0, reported: 0 }
    const open = count.open + 1
    if (open > max) return false
    if (open > count.reported + this.#unreported(max)) {
      if (this.#others(network) + open > max) return false
      this.#report(network, count, open)
    }
    count.open = open
    if (open === 1) this.#networks.set(network, count)
    return true
  }

  /** Counts one connection less. */
  leave(network: string, max: number): void {
    const count = this.#networks.get(network)!
    const open = --count.open
    if (open === 0) this.#networks.delete(network)
    if (count.reported > 0 && (open === 0 || open < count.reported - this.#unreported(max)))
      this.#report(network, count, open)
  }

  #unreported(max: number): number {
    return Math.floor((max * UNREPORTED_PART) / this.#workers)
  }

  #others(network: string): number {
    return this.#try((shared) => shared.others(network)) ?? 0
  }

  #report(network: string, count: NetworkCount, open: number): void {
    this.#try((shared) => shared.report(network, open - count.reported))
    count.reported = open
  }

  /** If the host's memory is full, the worker counts alone from then on. */
  #try<T>(use: (shared: SharedCounts) => T): T | null {
    try {
      return this.#shared && use(this.#shared)
    } catch (error) {
      log('error', 'cannot share connection counts with other workers; counting alone', {
        error: messageOf(error),
      })
      this.#shared = null
      return null
    }
  }
}
