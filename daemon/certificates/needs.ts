import { removeCertificateFiles } from '#server/certificates/files.ts'
import { CertificateNames, routedHosts, UploadedBook, type RoutedHost } from '#server/certificates/hosts.ts'
import { deleteCertificate, type CertificateRow } from '#server/certificates/store.ts'
import { isLocalName } from '#server/domains/names.ts'

/** A name that an authority shall certify: the hosts that need it, and the domain that it waits for. */
export interface Wanted {
  hosts: RoutedHost[]
  waitsFor: string | null
}

/** Every name that is needed: no local one, and none that an uploaded certificate serves. */
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

/** A clock that is corrected may be this much before what was just written. */
const CLOCK_SLACK_MS = 60_000

/**
 * Whether a certificate is to be ordered now. One that is being issued, and by nobody, was cut off by a restart. A wait
 * that was written under a clock ahead of this one is no wait.
 */
export function isDue(row: CertificateRow, directory: string, now: number = Date.now()): boolean {
  if (row.status === 'failed') return (row.retry_at ?? 0) <= now || row.updated_at > now + CLOCK_SLACK_MS
  if (row.status === 'issued') return row.directory !== directory || (row.renew_at ?? 0) <= now
  return true
}

/** Hosts that have none come first, then those that end first. */
export function byNeed(left: CertificateRow, right: CertificateRow): number {
  return (left.not_after ?? 0) - (right.not_after ?? 0) || left.created_at - right.created_at
}

/** Forgets those that nobody needs once they have ended: until then what is connected again has one. */
export function forgetEnded(unwanted: readonly CertificateRow[], now: number = Date.now()): void {
  for (const { id, not_after } of unwanted) {
    if ((not_after ?? 0) > now) continue
    deleteCertificate(id)
    removeCertificateFiles(id)
  }
}
