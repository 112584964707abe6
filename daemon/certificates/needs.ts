import { removeCertificateFiles } from '#server/certificates/files.ts'
import { CertificateNames, routedHosts, UploadedBook, type RoutedHost } from '#server/certificates/hosts.ts'
import { deleteCertificate, type CertificateRow } from '#server/certificates/store.ts'
import { isLocalName } from '#server/domains/names.ts'

/** A name that needs a certificate: the hosts that use it, and the domain that it waits for. */
export interface Wanted {
  hosts: RoutedHost[]
  waitsFor: string | null
}

/** Returns every name that needs a certificate, without local names and those that an uploaded certificate covers. */
export function wantedNames(): Map<string, Wanted> {
  const uploaded = new UploadedBook()
  const names = new CertificateNames()
  const wanted = new Map<string, Wanted>()
  for (const routed of routedHosts()) {
    const { host } = routed
    if (isLocalName(host) || uploaded.find(host)) continue
    const name = names.nameOf(routed)
    const known = wanted.get(name)
    if (known) known.hosts.push(routed)
    else wanted.set(name, { hosts: [routed], waitsFor: names.waitsFor(routed) })
  }
  return wanted
}

/** After a clock correction, times that were just written may be this far in the future. */
const CLOCK_SLACK_MS = 60_000

/**
 * Whether a certificate should be ordered now. One with status `issuing` that no order works on was cut off by a restart.
 * A wait that was written under a clock ahead of this one does not count.
 */
export function isDue(row: CertificateRow, directory: string, now: number = Date.now()): boolean {
  if (row.status === 'failed') return (row.retry_at ?? 0) <= now || row.updated_at > now + CLOCK_SLACK_MS
  if (row.status === 'issued') return row.directory !== directory || (row.renew_at ?? 0) <= now
  return true
}

/** Sorts hosts without a certificate first, then by expiry. */
export function byNeed(left: CertificateRow, right: CertificateRow): number {
  return (left.not_after ?? 0) - (right.not_after ?? 0) || left.created_at - right.created_at
}

/** Deletes unneeded certificates once they have expired: until then a host that is connected again can use its old one. */
export function deleteExpired(unwanted: readonly CertificateRow[], now: number = Date.now()): void {
  for (const { id, not_after } of unwanted) {
    if ((not_after ?? 0) > now) continue
    deleteCertificate(id)
    removeCertificateFiles(id)
  }
}
