import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { versionFiles } from '#server/certificates/files.ts'
import type { CertificateFacts } from '#server/certificates/pem.ts'
import { setAdvice, type CertificateRow } from '#server/certificates/store.ts'
import { useContext } from '#server/context.ts'
import { readRetryAfter } from '#server/network/answers.ts'
import { forEachLimited } from '../work/each.ts'
import type { Authority } from './authority.ts'
import { loadAcme } from './authority.ts'
import { AcmeProblem, AuthorityUnavailable } from './problem.ts'

/** The part of its lifetime after which a certificate is renewed unless the authority advises otherwise. */
const RENEWAL_PART = 2 / 3
/** Interval without Retry-After: six hours (RFC 9773 section 4.3.3). */
const ADVICE_MS = 6 * 3_600_000
/** Pause after a request that failed. */
const FAILURE_PAUSE_MS = 3_600_000
const MIN_ADVICE_MS = 60_000
const MAX_ADVICE_MS = 24 * 3_600_000
const CLOCK_SLACK_MS = 60_000
/** Requests at a time, and in one pass. */
const REQUESTS_AT_A_TIME = 2
const REQUESTS_PER_PASS = 20

/** When an authority advises to renew a certificate (RFC 9773 section 4.2). */
interface RenewalWindow {
  start: string
  end: string
}

/**
 * Returns when a certificate that was issued now is renewed without advice. If it is already late in its lifetime by this
 * host's clock, which may be ahead, after half of what is left: its successor would not be any younger.
 */
export function renewAt(
  { notBefore, notAfter }: Pick<CertificateFacts, 'notBefore' | 'notAfter'>,
  now: number = Date.now(),
): number {
  const usual = notBefore + (notAfter - notBefore) * RENEWAL_PART
  return Math.round(Math.max(usual, (now + notAfter) / 2))
}

/** Returns the id of a certificate in renewal advice (RFC 9773 section 4.1); null if it does not name its issuer's key. */
export function certificateId(certificate: X509Certificate): string | null {
  const issuerKey = authorityKeyId(certificate.raw)
  if (!issuerKey) return null
  const serial = Buffer.from(
    certificate.serialNumber.padStart(
      certificate.serialNumber.length + (certificate.serialNumber.length % 2),
      '0',
    ),
    'hex',
  )
  // DER integers are signed.
  const signed = serial[0]! >= 0x80 ? Buffer.concat([Buffer.of(0), serial]) : serial
  return `${issuerKey.toString('base64url')}.${signed.toString('base64url')}`
}

/** Returns the advice id of a row's certificate; null before the first is issued, and if its file is gone. */
export function adviceIdOf({ id, version }: CertificateRow): string | null {
  if (version === null) return null
  try {
    return certificateId(new X509Certificate(readFileSync(versionFiles(id, version).certificate)))
  } catch {
    return null
  }
}

/** Asks an authority that offers advice when to renew its certificates (RFC 9773). */
export class RenewalAdvice {
  readonly #authority: Authority
  #retryAt = -Infinity
  /** By name, the version that the authority last advised to renew at once, and when it did, in monotonic milliseconds. */
  readonly #urgent = new Map<string, { version: string | null; at: number }>()

  constructor(authority: Authority) {
    this.#authority = authority
  }

  /** Asks about the certificates whose advice is out of date. */
  async look(rows: readonly CertificateRow[], now: number = Date.now()): Promise<void> {
    if (performance.now() < this.#retryAt) return
    const { directory } = useContext().options.acme
    const due = rows
      .filter(
        (row) =>
          row.status === 'issued' && row.directory === directory && isAdviceOld(row.advised_until, now),
      )
      .slice(0, REQUESTS_PER_PASS)
    if (due.length === 0) return
    try {
      const place = await this.#authority.renewalInfo()
      if (place === null) this.#retryAt = Infinity
      else await forEachLimited(due, REQUESTS_AT_A_TIME, (row) => this.#ask(place, row))
    } catch (error) {
      // Until there is advice, the certificate's own lifetime decides.
      if (!(error instanceof AuthorityUnavailable) && !(error instanceof AcmeProblem)) throw error
      this.#retryAt = performance.now() + FAILURE_PAUSE_MS
    }
  }

  async #ask(place: string, row: CertificateRow): Promise<void> {
    const { id, renew_at } = row
    const name = adviceIdOf(row)
    if (name === null) return setAdvice(id, renew_at!, Date.now() + MAX_ADVICE_MS)
    const { axios } = await loadAcme()
    try {
      const { data, headers } = await axios.get<{ suggestedWindow?: RenewalWindow }>(`${place}/${name}`)
      const again = readRetryAfter(headers['retry-after']) ?? ADVICE_MS
      const until = Date.now() + Math.min(Math.max(again, MIN_ADVICE_MS), MAX_ADVICE_MS)
      setAdvice(id, this.#limited(row, adviceOf(data.suggestedWindow, renew_at!)), until)
    } catch (error) {
      // It does not know this certificate; go on with the others.
      if (!(error instanceof AcmeProblem)) throw error
      setAdvice(id, renew_at!, Date.now() + FAILURE_PAUSE_MS)
    }
  }

  /** Limits advice to renew at once: if this host's clock is ahead, each new certificate would get it, without end. */
  #limited({ id, version, renew_at }: CertificateRow, advised: number): number {
    const [now, moment] = [Date.now(), performance.now()]
    if (advised > now) return advised
    for (const [name, { at }] of this.#urgent) if (moment - at >= ADVICE_MS) this.#urgent.delete(name)
    const former = this.#urgent.get(id)
    if (former && former.version !== version)
      return Math.min(renew_at!, Math.round(now + ADVICE_MS - (moment - former.at)))
    if (!former) this.#urgent.set(id, { version, at: moment })
    return advised
  }
}

/** Whether advice must be requested again. Advice that is valid for longer than the maximum came from a clock ahead. */
export function isAdviceOld(until: number | null, now: number = Date.now()): boolean {
  return until === null || until <= now || until > now + MAX_ADVICE_MS + CLOCK_SLACK_MS
}

/** Returns a random time in the window (RFC 9773 section 4.2), or the time chosen before if it is still inside. */
export function adviceOf(
  window: RenewalWindow | undefined,
  chosen: number,
  random: number = Math.random(),
): number {
  const start = Date.parse(window?.start ?? '')
  const end = Date.parse(window?.end ?? '')
  if (!(start <= end) || (chosen >= start && chosen <= end)) return chosen
  return Math.round(start + (end - start) * random)
}

/** The extension's object identifier 2.5.29.35 and the tags around the key's id (RFC 5280 section 4.2.1.1). */
const AUTHORITY_KEY = Buffer.from('0603551d23', 'hex')
const SEQUENCE = 0x30
const KEY_IDENTIFIER = 0x80

function authorityKeyId(der: Buffer): Buffer | null {
  const found = der.indexOf(AUTHORITY_KEY)
  if (found < 0) return null
  // OCTET STRING, SEQUENCE, [0]: their lengths are below 128 if only the key is named, as authorities do.
  const at = found + AUTHORITY_KEY.length + 2
  if (der[at] !== SEQUENCE || der[at + 2] !== KEY_IDENTIFIER) return null
  return der.subarray(at + 4, at + 4 + der[at + 3]!)
}
