import type { ServiceRow } from './store.ts'

/** The port of a program for which nothing says another. */
export const DEFAULT_PORT = 10_000

const MAX_PORT = 65_535

/** The port that a user's PORT variable names; null when it names none. */
export function portOf(variable: string | undefined): number | null {
  const port = variable !== undefined && /^\d{1,5}$/.test(variable) ? Number(variable) : 0
  return port >= 1 && port <= MAX_PORT ? port : null
}

/**
 * Where a service listens inside its environment, as far as is known before its next deploy: its setting, its variable
 * PORT, what its live deploy found out, the default.
 */
export function internalPort(
  service: Pick<ServiceRow, 'port' | 'variable_port'>,
  livePort: number | null | undefined,
): number {
  return service.port ?? service.variable_port ?? livePort ?? DEFAULT_PORT
}
