/** The port of a program for which nothing says another. */
export const DEFAULT_PORT = 10_000

const MAX_PORT = 65_535

/** The port that a user's PORT variable names; null when it names none. */
export function portOf(variable: string | undefined): number | null {
  const port = variable !== undefined && /^\d{1,5}$/.test(variable) ? Number(variable) : 0
  return port >= 1 && port <= MAX_PORT ? port : null
}
