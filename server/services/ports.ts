import type { ServiceRow } from './store.ts'

/** The port of a program when nothing sets another one. */
export const DEFAULT_PORT = 10_000

const MAX_PORT = 65_535

/** The port in a user's PORT variable; null when it is not a port. */
export function portOf(variable: string | undefined): number | null {
  const port = variable !== undefined && /^\d{1,5}$/.test(variable) ? Number(variable) : 0
  return port >= 1 && port <= MAX_PORT ? port : null
}

/**
 * The port on which a service listens inside its environment, as far as known before its next deploy: its setting, its
 * variable PORT, the port that its live deploy found, or the default.
 */
export function internalPort(
  service: Pick<ServiceRow, 'port' | 'variable_port'>,
  livePort: number | null | undefined,
): number {
  return service.port ?? service.variable_port ?? livePort ?? DEFAULT_PORT
}
