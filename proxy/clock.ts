/** Returns milliseconds of a clock that never goes back. `performance` gives the same but costs each worker 0.6 MiB. */
export function monotonicMs(): number {
  const time = process.hrtime()
  return time[0] * 1_000 + time[1] / 1e6
}
