/** Returns the median of some figures. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN
  return (lower + upper) / 2
}

/** Returns the figure below which this share of them lies. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** Returns memory in MiB with the unit. */
export function formatMib(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`
}
