/** Milliseconds of a clock that never goes back. `performance` tells the same, for 0.6 MiB of each worker. */
export function monotonicMs(): number {
  const time = process.hrtime()
  return time[0] * 1_000 + time[1] / 1e6
}
