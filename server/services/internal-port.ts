import { DEFAULT_PORT } from './ports.ts'
import type { ServiceRow } from './store.ts'

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
