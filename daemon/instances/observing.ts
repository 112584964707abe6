import { observeService, type ServiceRow } from '#server/services/store.ts'
import { passEnded } from '../work/settled.ts'

/** Records that a service was looked at, and what keeps it from its desired state; null for nothing. */
export function observe(service: ServiceRow, error: string | null): void {
  observeService(service.id, service.generation, error)
  passEnded(service.id)
}
