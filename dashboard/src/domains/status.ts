import type { CertificateEntry, CertificateState, Domain, DomainCheck, HostCheck } from '../api/types.ts'
import type { Tone } from '../ui/StatusBadge.vue'

interface Look {
  tone: Tone
  label: string
}

const DOMAIN: Record<Domain['status'], Look> = {
  pending: { tone: 'progress', label: 'Waiting for DNS' },
  active: { tone: 'success', label: 'Active' },
  failed: { tone: 'warning', label: 'No longer points here' },
}

const CERTIFICATE: Record<CertificateState, Look> = {
  issued: { tone: 'success', label: 'Issued' },
  pending: { tone: 'neutral', label: 'Waiting' },
  issuing: { tone: 'progress', label: 'Issuing' },
  failed: { tone: 'danger', label: 'Failed' },
  local: { tone: 'neutral', label: 'Local' },
  disabled: { tone: 'neutral', label: 'HTTPS is off' },
}

const CHECK: Record<DomainCheck['outcome'], Look> = {
  passed: { tone: 'success', label: 'Passed' },
  failed: { tone: 'danger', label: 'Failed' },
  skipped: { tone: 'neutral', label: 'Skipped' },
}

export const CHECK_LABEL: Record<DomainCheck['kind'], string> = {
  dns: 'DNS points here',
  http: 'This server answers at this name',
}

export function domainLook({ status, local }: Domain): Look {
  return local ? { tone: 'neutral', label: 'Local' } : DOMAIN[status]
}

export function hostLook({ leads_here }: HostCheck): Look {
  return leads_here ? { tone: 'success', label: 'Points here' } : DOMAIN.pending
}

export function checkLook({ outcome }: DomainCheck): Look {
  return CHECK[outcome]
}

const DAY_MS = 86_400_000
/** By then a certificate should have been renewed, unless only its owner can renew it. */
const NEAR_DAYS = 14
const NEAR_PART = 1 / 6

/** Whether the certificate in use expires soon. */
function isNearEnd({ not_before, expires_at }: CertificateEntry, now: number): boolean {
  if (not_before === null || expires_at === null) return false
  const end = Date.parse(expires_at)
  return end - now < Math.min(NEAR_DAYS * DAY_MS, (end - Date.parse(not_before)) * NEAR_PART)
}

export function certificateLook(entry: CertificateEntry, now: number): Look {
  if (entry.state === 'issued' && isNearEnd(entry, now)) return { tone: 'warning', label: 'Expires soon' }
  return CERTIFICATE[entry.state]
}

const RANKS: CertificateState[] = ['failed', 'pending', 'issuing', 'disabled', 'issued', 'local']

/** The lower, the sooner a host needs attention. */
export function certificateRank({ state }: CertificateEntry): number {
  return RANKS.indexOf(state)
}
