import { MAX_NAME_CHARACTERS } from '../domains/names.ts'
import { servedDomains } from '../domains/store.ts'
import { PRODUCTION, type Environment } from '../environments/store.ts'
import type { ServiceRow } from './store.ts'
import { TYPES } from './types.ts'

/**
 * The hosts at which the data plane serves a service under the server's domains, that of the default one first; none
 * for what has no public address. `domains` spares who asks for many the reading.
 */
export function hostsOf(
  service: Pick<ServiceRow, 'type' | 'name'>,
  environment: Pick<Environment, 'name'>,
  domains: readonly string[] = servedDomains(),
): string[] {
  if (!TYPES[service.type].hasHosts) return []
  return (
    domains
      .map((domain) => `${service.name}.${placeOf(environment, domain)}`)
      // Three long names make one that DNS does not have.
      .filter((host) => host.length <= MAX_NAME_CHARACTERS)
  )
}

/** Where an environment's services are under a domain, each by one label. */
export function placeOf(environment: Pick<Environment, 'name'>, domain: string): string {
  return environment.name === PRODUCTION ? domain : `${environment.name}.${domain}`
}

/** The hosts that a service has of its own. */
export function customDomainsOf({ custom_domains }: Pick<ServiceRow, 'custom_domains'>): string[] {
  return JSON.parse(custom_domains) as string[]
}

/** Every host of a service: under the server's domains, then its own. */
export function allHostsOf(
  service: Pick<ServiceRow, 'type' | 'name' | 'custom_domains'>,
  environment: Pick<Environment, 'name'>,
  domains?: readonly string[],
): string[] {
  return [...hostsOf(service, environment, domains), ...customDomainsOf(service)]
}
