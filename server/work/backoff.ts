/** What failed together is not to be tried again together. */
const JITTER = 0.2

/** A pause that doubles with each failure in a row, from the first to the longest. */
export interface Backoff {
  firstMs: number
  longestMs: number
}

/** How long to wait after so many failures in a row, at least one. */
export function backoffMs(failures: number, { firstMs, longestMs }: Backoff): number {
  return Math.min(longestMs, firstMs * 2 ** (failures - 1))
}

/** The same time, or up to a fifth longer. `random` is of 0 to 1. */
export function jittered(ms: number, random: number = Math.random()): number {
  return Math.round(ms * (1 + JITTER * random))
}
