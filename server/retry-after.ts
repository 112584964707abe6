/** The delay in milliseconds of a `Retry-After` (RFC 9110 section 10.2.3), which is a number of seconds or a date. */
export function readRetryAfter(value: unknown, now: number = Date.now()): number | null {
  if (typeof value !== 'string') return null
  const ms = /^\d+$/.test(value.trim()) ? Number(value) * 1_000 : Date.parse(value) - now
  return Number.isFinite(ms) ? Math.max(0, ms) : null
}
