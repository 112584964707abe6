import { isLocalName } from '../domains/names.ts'
import { addressRecords } from '../domains/records.ts'
import { listDomains } from '../domains/store.ts'
import { placeOf } from '../services/hosts.ts'
import type { EnvironmentDns } from './schema.ts'

/** The DNS records that an environment's hosts need, for each domain of the server that is not local. */
export function dnsOf(environment: { name: string }): EnvironmentDns[] {
  return listDomains()
    .filter(({ name }) => !isLocalName(name))
    .map(({ name }) => {
      const wildcard = `*.${placeOf(environment, name)}`
      return { domain: name, wildcard, records: addressRecords(wildcard, true) }
    })
}
