/** The port of a program when nothing sets another one. */
export const DEFAULT_PORT = 10_000

const MAX_PORT = 65_535

/** The port in a user's PORT variable; null when it is not a port. */
export function portOf(variable: string | undefined): number | null {
  const port = variable !== undefined && /^\d{1,5}$/.test(variable) ? Number(variable) : 0
  return port >= 1 && port <= MAX_PORT ? port : null
}
