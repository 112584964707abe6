import { LATENCY_BUCKETS_SECONDS } from '#proxy/latency-buckets.ts'

/** How many counts a latency has. */
export const LATENCY_COUNTS = LATENCY_BUCKETS_SECONDS.length + 1
const MILLISECONDS = 1_000

/**
 * The latency in milliseconds below which this share of requests is. Exact to its bucket: requests are assumed to be evenly
 * spread within it, as Prometheus' `histogram_quantile` does. Null when there are no requests.
 */
export function percentile(buckets: readonly number[], share: number): number | null {
  const total = buckets.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  const rank = share * total
  let below = 0
  for (const [index, upper] of LATENCY_BUCKETS_SECONDS.entries()) {
    const count = buckets[index] ?? 0
    if (count > 0 && below + count >= rank) {
      const lower = index === 0 ? 0 : LATENCY_BUCKETS_SECONDS[index - 1]!
      return rounded((lower + ((upper - lower) * (rank - below)) / count) * MILLISECONDS)
    }
    below += count
  }
  return LATENCY_BUCKETS_SECONDS.at(-1)! * MILLISECONDS
}

function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 1_000) / 1_000
}
