import { timestamp } from '../clock.ts'
import { publicUrl } from '../network/public-address.ts'
import { isLocalName } from './names.ts'
import { domainRecords } from './records.ts'
import type { Domain, DomainCheck } from './schema.ts'
import { isServed, type DomainRow } from './store.ts'

/** A domain as the API returns it. */
export function viewDomain(row: DomainRow): Domain {
  const local = isLocalName(row.name)
  return {
    id: row.id,
    name: row.name,
    source: row.source,
    status: row.status,
    is_default: row.is_default === 1,
    local,
    served: isServed(row),
    url_pattern: publicUrl(`<service>.${row.name}`),
    records: local ? [] : domainRecords(row.name),
    checks: JSON.parse(row.checks) as DomainCheck[],
    created_at: timestamp(row.created_at),
    checked_at: timestamp(row.checked_at),
    verified_at: timestamp(row.verified_at),
  }
}
