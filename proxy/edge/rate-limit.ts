import type { RateCells } from './rate-cells.ts'

/** Sums of intervals are not exact, and a burst must not be short of one request for that. */
const ROUNDING_MS = 1e-3

/** How many requests a client may send. */
export interface Rate {
  requests: number
  periodMs: number
  /** How many may come at once. */
  burst: number
}

/** What became of one request. */
export interface Turn {
  allowed: boolean
  /** How many more may come now. */
  left: number
  /** Seconds until as many as possible may come again. */
  resetSeconds: number
  /** Seconds until the next one is allowed; 0 if there are some left. */
  waitSeconds: number
}

/**
 * Limits requests by the generic cell rate algorithm (ITU-T I.371): each request pays for the time that one takes at the
 * allowed rate, and a client may be ahead by its burst. So it takes one number per client, and there is no moment at which
 * everything is allowed again.
 */
export class RateLimit {
  readonly #name: string
  /** Milliseconds that one request takes at the allowed rate. */
  readonly #intervalMs: number
  readonly #aheadMs: number

  /** Limits with the same name and rate are one. */
  constructor(name: string, { requests, periodMs, burst }: Rate) {
    this.#name = `${name} ${requests}/${periodMs}/${burst}`
    this.#intervalMs = periodMs / requests
    this.#aheadMs = this.#intervalMs * Math.max(burst, 1)
  }

  /** Counts a request of a client if it is allowed. `now` is monotonic milliseconds. */
  take(cells: RateCells, client: string, now: number): Turn {
    let paidFor = now
    let allowed = false
    cells.change(this.#nameOf(client), (moment) => {
      paidFor = Math.max(moment, now)
      allowed = paidFor + this.#intervalMs - now <= this.#aheadMs + ROUNDING_MS
      if (allowed) paidFor += this.#intervalMs
      return allowed ? paidFor : null
    })
    const left = Math.floor((this.#aheadMs - (paidFor - now) + ROUNDING_MS) / this.#intervalMs)
    const resetMs = paidFor - now
    const waitMs = left > 0 ? 0 : resetMs + this.#intervalMs - this.#aheadMs
    return { allowed, left, resetSeconds: seconds(resetMs), waitSeconds: seconds(waitMs) }
  }

  /** Takes back a request that was counted. */
  giveBack(cells: RateCells, client: string): void {
    cells.lower(this.#nameOf(client), this.#intervalMs)
  }

  #nameOf(client: string): string {
    return `${this.#name} ${client}`
  }
}

function seconds(milliseconds: number): number {
  return Math.max(Math.ceil((milliseconds - ROUNDING_MS) / 1_000), 0)
}
