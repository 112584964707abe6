/** Less than this may be the time that an answer took, and the second to which it tells the time. */
export const CLOCK_SLACK_MS = 5_000

let behind = 0

/** To be told the `Date` of each answer: the reader's clock may be hours off, and what the server tells is of its own. */
export function hearTime(date: string | null): void {
  const difference = Date.parse(date ?? '') - Date.now()
  if (!Number.isNaN(difference)) behind = Math.abs(difference) < CLOCK_SLACK_MS ? 0 : difference
}

/** The time by the server's clock, in milliseconds. */
export function serverTime(): number {
  return Date.now() + behind
}
