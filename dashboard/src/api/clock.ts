/** A smaller difference may come from the time the response took, and from `Date` being in whole seconds. */
export const CLOCK_SLACK_MS = 5_000

let behind = 0

/**
 * Takes the `Date` of each response: the user's clock may be hours off, and times from the server are by its own
 * clock.
 */
export function hearTime(date: string | null): void {
  const difference = Date.parse(date ?? '') - Date.now()
  if (!Number.isNaN(difference)) behind = Math.abs(difference) < CLOCK_SLACK_MS ? 0 : difference
}

/** The time by the server's clock, in milliseconds. */
export function serverTime(): number {
  return Date.now() + behind
}
