/** RFC 3339 UTC with milliseconds, as all timestamps of the API; null, a time that has not come, stays null. */
export function timestamp(milliseconds: number): string
export function timestamp(milliseconds: number | null): string | null
export function timestamp(milliseconds: number | null): string | null {
  return milliseconds === null ? null : new Date(milliseconds).toISOString()
}

/** RFC 3339 section 5.6, with optional seconds. */
const TIMESTAMP =
  /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]([01]\d|2[0-3]):\d{2})$/i
const DAY_CHARACTERS = 'YYYY-MM-DD'.length

/** The time of a timestamp; null for an invalid one, and for a year without four digits in UTC. */
export function parseTimestamp(text: string): number | null {
  const [, day] = TIMESTAMP.exec(text) ?? []
  if (day === undefined) return null
  const moment = new Date(text.toUpperCase())
  if (Number.isNaN(moment.getTime()) || /^[+-]/.test(moment.toISOString())) return null
  // Date.parse accepts up to 31 days in any month.
  const isThere = new Date(day).toISOString().slice(0, DAY_CHARACTERS) === day
  return isThere ? moment.getTime() : null
}

/** How many milliseconds a moment that another clock told is outside the time between a question and its answer. */
export function clockGap(moment: number, askedAt: number, answeredAt: number): number {
  return moment - Math.min(Math.max(moment, askedAt), answeredAt)
}
