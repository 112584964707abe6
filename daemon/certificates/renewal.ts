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
import { AcmeProblem, AuthorityAway } from './problem.ts'

/** Of a certificate's life, when it is renewed unless its authority advises otherwise. */
const RENEWAL_PART = 2 / 3
/** RFC 9773 section 4.3.3: without Retry-After, six hours. */
const ADVICE_MS = 6 * 3_600_000
/** After a question that was not answered. */
const REST_MS = 3_600_000
const LEAST_ADVICE_MS = 60_000
const MOST_ADVICE_MS = 24 * 3_600_000
const CLOCK_SLACK_MS = 60_000
/** Questions at a time, and in one pass. */
const QUESTIONS_AT_A_TIME = 2
const QUESTIONS_A_PASS = 20

/** When an authority would have a certificate renewed (RFC 9773 section 4.2). */
interface RenewalWindow {
  start: string
  end: string
}

/**
 * When a certificate that comes now is renewed by itself. One that comes late in its life by this host's clock, which may be
 * ahead, lasts half of what is left: its successor would be no younger.
 */
export function renewAt(
  { notBefore, notAfter }: Pick<CertificateFacts, 'notBefore' | 'notAfter'>,
  now: number = Date.now(),
): number {
  const usual = notBefore + (notAfter - notBefore) * RENEWAL_PART
  return Math.round(Math.max(usual, (now + notAfter) / 2))
}

/** How an authority calls a certificate (RFC 9773 section 4.1); null for one that does not name the key of its issuer. */
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
  // DER's integers have a sign.
  const signed = serial[0]! >= 0x80 ? Buffer.concat([Buffer.of(0), serial]) : serial
  return `${issuerKey.toString('base64url')}.${signed.toString('base64url')}`
}

/** How an authority calls the certificate of a row; null before the first, and for one whose file is gone. */
export function calledByAuthority({ id, version }: CertificateRow): string | null {
  if (version === null) return null
  try {
    return certificateId(new X509Certificate(readFileSync(versionFiles(id, version).certificate)))
  } catch {
    return null
  }
}

/** Asks an authority that offers it when its certificates are to be renewed (RFC 9773). */
export class RenewalAdvice {
  readonly #authority: Authority
  #retryAt = -Infinity
  /** Which version of each name was last to be renewed at once, and since when, in monotonic milliseconds. */
  readonly #hurried = new Map<string, { version: string | null; at: number }>()

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
      .slice(0, QUESTIONS_A_PASS)
    if (due.length === 0) return
    try {
      const place = await this.#authority.renewalInfo()
      if (place === null) this.#retryAt = Infinity
      else await forEachLimited(due, QUESTIONS_AT_A_TIME, (row) => this.#ask(place, row))
    } catch (error) {
      // The certificate's own life says when, until there is advice.
      if (!(error instanceof AuthorityAway) && !(error instanceof AcmeProblem)) throw error
      this.#retryAt = performance.now() + REST_MS
    }
  }

  async #ask(place: string, row: CertificateRow): Promise<void> {
    const { id, renew_at } = row
    const name = calledByAuthority(row)
    if (name === null) return setAdvice(id, renew_at!, Date.now() + MOST_ADVICE_MS)
    const { axios } = await loadAcme()
    try {
      const { data, headers } = await axios.get<{ suggestedWindow?: RenewalWindow }>(`${place}/${name}`)
      const again = readRetryAfter(headers['retry-after']) ?? ADVICE_MS
      const until = Date.now() + Math.min(Math.max(again, LEAST_ADVICE_MS), MOST_ADVICE_MS)
      setAdvice(id, this.#heeded(row, adviceOf(data.suggestedWindow, renew_at!)), until)
    } catch (error) {
      // It knows nothing of this one, which is not to keep it from being asked about the others.
      if (!(error instanceof AcmeProblem)) throw error
      setAdvice(id, renew_at!, Date.now() + REST_MS)
    }
  }

  /** An authority that wants each new one renewed at once, as when this host's clock is ahead, is not followed without end. */
  #heeded({ id, version, renew_at }: CertificateRow, advised: number): number {
    const [now, moment] = [Date.now(), performance.now()]
    if (advised > now) return advised
    for (const [name, { at }] of this.#hurried) if (moment - at >= ADVICE_MS) this.#hurried.delete(name)
    const former = this.#hurried.get(id)
    if (former && former.version !== version)
      return Math.min(renew_at!, Math.round(now + ADVICE_MS - (moment - former.at)))
    if (!former) this.#hurried.set(id, { version, at: moment })
    return advised
  }
}

/** Whether an authority is to be asked again. Advice that would hold for longer than any does was written under a clock ahead. */
export function isAdviceOld(until: number | null, now: number = Date.now()): boolean {
  return until === null || until <= now || until > now + MOST_ADVICE_MS + CLOCK_SLACK_MS
}

/** A moment in the window (RFC 9773 section 4.2); what was chosen before, while it is in it. */
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

/** The extension's object identifier 2.5.29.35 and what stands around the key's id (RFC 5280 section 4.2.1.1). */
const AUTHORITY_KEY = Buffer.from('0603551d23', 'hex')
const SEQUENCE = 0x30
const KEY_IDENTIFIER = 0x80

function authorityKeyId(der: Buffer): Buffer | null {
  const found = der.indexOf(AUTHORITY_KEY)
  if (found < 0) return null
  // OCTET STRING, SEQUENCE, [0]: their lengths are below 128 where a key is named alone, as authorities do.
  const at = found + AUTHORITY_KEY.length + 2
  if (der[at] !== SEQUENCE || der[at + 2] !== KEY_IDENTIFIER) return null
  return der.subarray(at + 4, at + 4 + der[at + 3]!)
}
