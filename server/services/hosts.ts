import { useContext } from '../context.ts'
import { PRODUCTION, type Environment } from '../environments/store.ts'
import type { ServiceRow } from './store.ts'
import { TYPES } from './types.ts'

/** The hosts at which the data plane serves a service; none for what has no public address. */
export function hostsOf(
  service: Pick<ServiceRow, 'type' | 'name'>,
  environment: Pick<Environment, 'name'>,
): string[] {
  if (!TYPES[service.type].hasHosts) return []
  const { baseDomain } = useContext().options
  const place = environment.name === PRODUCTION ? baseDomain : `${environment.name}.${baseDomain}`
  return [`${service.name}.${place}`]
}
