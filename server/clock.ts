/** RFC 3339 UTC with milliseconds, as every timestamp on the wire; null stays null (a moment that has not come). */
export function timestamp(milliseconds: number): string
export function timestamp(milliseconds: number | null): string | null
export function timestamp(milliseconds: number | null): string | null {
  return milliseconds === null ? null : new Date(milliseconds).toISOString()
}

/** RFC 3339 section 5.6, whose seconds may be left out. */
const TIMESTAMP =
  /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]([01]\d|2[0-3]):\d{2})$/i
const DAY_CHARACTERS = 'YYYY-MM-DD'.length

/** The moment that a timestamp names; null for what is none, and for one that has no year of four digits in UTC. */
export function parseTimestamp(text: string): number | null {
  const [, day] = TIMESTAMP.exec(text) ?? []
  if (day === undefined) return null
  const moment = new Date(text.toUpperCase())
  if (Number.isNaN(moment.getTime()) || /^[+-]/.test(moment.toISOString())) return null
  // Every month is taken to have 31 days.
  const isThere = new Date(day).toISOString().slice(0, DAY_CHARACTERS) === day
  return isThere ? moment.getTime() : null
}
