import { assertCustomDomainFree } from '../domains/claims.ts'
import { readName } from '../domains/names.ts'
import { AppError } from '../errors.ts'
import { customDomainsOf } from './hosts.ts'
import { MAX_CUSTOM_DOMAINS } from './input.ts'
import { patchService } from './operations.ts'
import type { ServiceRow } from './store.ts'
import { TYPES } from './types.ts'

/** Gives a service a host of its own; one that it has already changes nothing. Throws `conflict` when something else has it. */
export function addCustomDomain(service: ServiceRow, host: string): string[] {
  if (!TYPES[service.type].hasHosts)
    throw new AppError('invalid_request', `domain: ${TYPES[service.type].label} has no public address`)
  const domains = customDomainsOf(service)
  if (domains.includes(host)) return domains
  if (domains.length >= MAX_CUSTOM_DOMAINS)
    throw new AppError(
      'conflict',
      `service ${service.name} has ${MAX_CUSTOM_DOMAINS} custom domains: remove one that is not needed`,
    )
  assertCustomDomainFree(host, service, 'domain')
  return customDomainsOf(patchService(service, { custom_domains: [...domains, host] }))
}

/** The host of its own that a service has under this name. Throws `not_found` when it has it not. */
export function findCustomDomain(service: ServiceRow, text: string): string {
  const domains = customDomainsOf(service)
  // One that was taken before what a name may be was narrowed can go.
  const read = readName(text)
  const host = domains.includes(text) || 'fault' in read ? text : read.name
  if (!domains.includes(host))
    throw new AppError('not_found', `service ${service.name} has no custom domain ${host}`)
  return host
}

/** Takes a host of its own from a service. Throws `not_found` when it has it not. */
export function removeCustomDomain(service: ServiceRow, text: string): string[] {
  const host = findCustomDomain(service, text)
  const left = customDomainsOf(service).filter((domain) => domain !== host)
  return customDomainsOf(patchService(service, { custom_domains: left }))
}
