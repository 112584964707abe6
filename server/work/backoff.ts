/** Spreads retries of things that failed at the same moment: a pause is extended by up to this part of it. */
const JITTER = 0.2

/** A pause that doubles with each consecutive failure, from the first to the longest. */
export interface Backoff {
  firstMs: number
  longestMs: number
}

/** Returns how long to wait after a number of consecutive failures, at least one. */
export function backoffMs(failures: number, { firstMs, longestMs }: Backoff): number {
  return Math.min(longestMs, firstMs * 2 ** (failures - 1))
}

/** Returns the time, extended by up to a fifth of it. `random` is from 0 to 1. */
export function jittered(ms: number, random: number = Math.random()): number {
  return Math.round(ms * (1 + JITTER * random))
}
