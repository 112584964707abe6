/** RFC 3339 UTC with milliseconds, as every timestamp on the wire; null stays null (a moment that has not come). */
export function timestamp(milliseconds: number): string
export function timestamp(milliseconds: number | null): string | null
export function timestamp(milliseconds: number | null): string | null {
  return milliseconds === null ? null : new Date(milliseconds).toISOString()
}
