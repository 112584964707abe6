import type { CertificateEntry } from '#server/certificates/schema.ts'
import { viewCertificates } from '#server/certificates/view.ts'
import { isNearEnd } from '../../certificates/expiry.ts'
import { failed, listed, passed, skipped, warning, worstOf, type Check, type Verdict } from '../check.ts'

const FIX = 'The page of the domains shows each certificate.'

export const certificates: Check = {
  id: 'certificates',
  title: 'Certificates',
  needs: 'records',
  fix: FIX,
  look({ options }) {
    if (options.tls === 'off') return skipped('HTTPS is off (--tls off)')
    return judgeCertificates(viewCertificates(), Date.now())
  },
}

/** Judges the certificates of all hosts that need one. */
export function judgeCertificates(entries: readonly CertificateEntry[], now: number): Verdict {
  const needed = entries.filter(({ state }) => state !== 'local' && state !== 'disabled')
  if (needed.length === 0) return skipped('no host needs a certificate: all names are local')
  const end = ({ expires_at }: CertificateEntry) => (expires_at === null ? null : Date.parse(expires_at))
  const expired = needed.filter((entry) => (end(entry) ?? Infinity) <= now)
  const missing = needed.filter((entry) => end(entry) === null)
  const near = needed.filter((entry) => !expired.includes(entry) && isNear(entry, now))
  const refused = missing.filter(({ state }) => state === 'failed')
  const waiting = missing.filter(({ state, error }) => state !== 'failed' && error !== null)
  return worstOf([
    ...some(expired, failed, 'the certificate has expired of'),
    ...some(refused, failed, 'there is no certificate for'),
    ...some(near, warning, 'the certificate expires soon of'),
    ...some(waiting, warning, 'there is no certificate yet for'),
    passed(`${needed.length - missing.length} of ${needed.length} hosts have a certificate that is valid`),
  ])
}

function isNear({ not_before, expires_at }: CertificateEntry, now: number): boolean {
  if (not_before === null || expires_at === null) return false
  return isNearEnd(Date.parse(not_before), Date.parse(expires_at), now)
}

function some(entries: readonly CertificateEntry[], judge: typeof failed, what: string): Verdict[] {
  if (entries.length === 0) return []
  const reason = entries.find(({ error }) => error !== null)?.error
  const isUploaded = entries.every(({ source }) => source === 'uploaded')
  return [
    judge(
      `${what} ${listed(entries.map(({ host }) => host))}${reason ? ` (${reason})` : ''}`,
      isUploaded
        ? 'Upload a new one on the page of the domains.'
        : 'Fix the reason; the server tries again by itself. The names must lead here, and port 80 must be open for the authority.',
    ),
  ]
}
