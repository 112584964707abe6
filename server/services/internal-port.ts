import { DEFAULT_PORT } from './ports.ts'
import type { ServiceRow } from './store.ts'

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
