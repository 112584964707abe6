import { MAX_NAME_CHARACTERS } from '../domains/names.ts'
import { servedDomains } from '../domains/store.ts'
import { PRODUCTION } from '../environments/production.ts'
import type { Environment } from '../environments/store.ts'
import type { ServiceRow } from './store.ts'
import { TYPES } from './types.ts'

/**
 * The hosts at which the data plane serves a service under the server's domains, the default domain first; none for a
 * service without a public address. Callers that need many pass `domains`, so that they are read only once.
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
      // Three long names can add up to one that is too long for DNS.
      .filter((host) => host.length <= MAX_NAME_CHARACTERS)
  )
}

/** The name under which an environment's services are within a domain, each with one label. */
export function placeOf(environment: Pick<Environment, 'name'>, domain: string): string {
  return environment.name === PRODUCTION ? domain : `${environment.name}.${domain}`
}

/** The custom domains of a service. */
export function customDomainsOf({ custom_domains }: Pick<ServiceRow, 'custom_domains'>): string[] {
  return JSON.parse(custom_domains) as string[]
}

/** All hosts of a service: those under the server's domains, then its custom domains. */
export function allHostsOf(
  service: Pick<ServiceRow, 'type' | 'name' | 'custom_domains'>,
  environment: Pick<Environment, 'name'>,
  domains?: readonly string[],
): string[] {
  return [...hostsOf(service, environment, domains), ...customDomainsOf(service)]
}
