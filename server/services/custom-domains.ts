import { assertCustomDomainFree } from '../domains/claims.ts'
import { readName } from '../domains/names.ts'
import { AppError } from '../errors.ts'
import { customDomainsOf } from './hosts.ts'
import { MAX_CUSTOM_DOMAINS } from './input.ts'
import { patchService } from './operations.ts'
import type { ServiceRow } from './store.ts'
import { TYPES } from './types.ts'

/** Gives a service a custom domain. Does nothing when it has it already. Throws `conflict` when something else has it. */
export function addCustomDomain(service: ServiceRow, host: string): string[] {
  if (!TYPES[service.type].hasHosts)
    throw new AppError('invalid_request', `domain: ${TYPES[service.type].label} has no public address`)
  const domains = customDomainsOf(service)
  if (domains.includes(host)) return domains
  if (domains.length >= MAX_CUSTOM_DOMAINS)
    throw new AppError(
      'conflict',
      `service ${service.name} has ${MAX_CUSTOM_DOMAINS} custom domains, which is the maximum: remove one that is not needed`,
    )
  assertCustomDomainFree(host, service, 'domain')
  return customDomainsOf(patchService(service, { custom_domains: [...domains, host] }))
}

/** The custom domain of a service under this name. Throws `not_found`. */
export function findCustomDomain(service: ServiceRow, text: string): string {
  const domains = customDomainsOf(service)
  // A domain that was added under earlier, looser rules for names can still be removed.
  const read = readName(text)
  const host = domains.includes(text) || 'fault' in read ? text : read.name
  if (!domains.includes(host))
    throw new AppError('not_found', `service ${service.name} has no custom domain ${host}`)
  return host
}

/** Removes a custom domain from a service. Throws `not_found`. */
export function removeCustomDomain(service: ServiceRow, text: string): string[] {
  const host = findCustomDomain(service, text)
  const left = customDomainsOf(service).filter((domain) => domain !== host)
  return customDomainsOf(patchService(service, { custom_domains: left }))
}
