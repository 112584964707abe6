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
  return domainsOf(environment).map((domain) => `${service.name}.${domain}`)
}

/** The domains that an environment's services are under, each by one label, the one that is shown first. */
export function domainsOf(environment: Pick<Environment, 'name'>): string[] {
  const { baseDomain } = useContext().options
  return [environment.name === PRODUCTION ? baseDomain : `${environment.name}.${baseDomain}`]
}
