import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { versionFiles } from '#server/certificates/files.ts'
import type { CertificateFacts } from '#server/certificates/pem.ts'
import { setAdvice, type CertificateRow } from '#server/certificates/store.ts'
import { useContext } from '#server/context.ts'
import { forEachLimited } from '../limits.ts'
import type { Authority } from './authority.ts'
import { loadAcme } from './authority.ts'
import { AcmeProblem, AuthorityAway, readRetryAfter } from './problem.ts'

/** Of a certificate's life, when it is renewed unless its authority advises otherwise. */
const RENEWAL_PART = 2 / 3
/** RFC 9773 section 4.3.3: without Retry-After, six hours. */
const ADVICE_MS = 6 * 3_600_000
const LEAST_ADVICE_MS = 60_000
const MOST_ADVICE_MS = 24 * 3_600_000
const CLOCK_SLACK_MS = 60_000
/** Questions at a time, and in one pass. */
const QUESTIONS_AT_A_TIME = 2
const QUESTIONS_A_PASS = 20

/** When a certificate is renewed by itself. */
export function renewAt({ notBefore, notAfter }: Pick<CertificateFacts, 'notBefore' | 'notAfter'>): number {
  return Math.round(notBefore + (notAfter - notBefore) * RENEWAL_PART)
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

/** The name of what a row's certificate replaces, for its authority. */
export function replacedBy({ id, version }: CertificateRow): string | null {
  return version === null ? null : certificateId(readCertificate(id, version))
}

/** Asks an authority that offers it when its certificates are to be renewed (RFC 9773). */
export class RenewalAdvice {
  readonly #authority: Authority
  /** Where to ask; null when the authority has no advice, undefined before it was asked. */
  #place: string | null | undefined
  #retryAt = -Infinity

  constructor(authority: Authority) {
    this.#authority = authority
  }

  /** Asks about the certificates whose advice is out of date. */
  async look(rows: readonly CertificateRow[], now: number = Date.now()): Promise<void> {
    if (this.#place === null || performance.now() < this.#retryAt) return
    const { directory } = useContext().options.acme
    const due = rows
      .filter(
        (row) =>
          row.status === 'issued' && row.directory === directory && isAdviceOld(row.advised_until, now),
      )
      .slice(0, QUESTIONS_A_PASS)
    if (due.length === 0) return
    try {
      this.#place = await this.#findPlace()
      const place = this.#place
      if (place !== null) await forEachLimited(due, QUESTIONS_AT_A_TIME, (row) => this.#ask(place, row))
    } catch (error) {
      // The certificate's own life says when, until there is advice.
      if (!(error instanceof AuthorityAway) && !(error instanceof AcmeProblem)) throw error
      this.#retryAt = performance.now() + ADVICE_MS / 6
    }
  }

  #findPlace(): Promise<string | null> {
    return this.#authority.withClient(async (_client, acme) => {
      const { data } = await acme.axios.get<{ renewalInfo?: string }>(useContext().options.acme.directory)
      return data.renewalInfo ?? null
    })
  }

  async #ask(place: string, { id, version, renew_at }: CertificateRow): Promise<void> {
    const name = certificateId(readCertificate(id, version!))
    if (name === null) return setAdvice(id, renew_at!, Date.now() + MOST_ADVICE_MS)
    const { axios } = await loadAcme()
    const { data, headers } = await axios.get<{ suggestedWindow?: { start: string; end: string } }>(
      `${place.replace(/\/$/, '')}/${name}`,
    )
    const again = readRetryAfter(headers['retry-after']) ?? ADVICE_MS
    const until = Date.now() + Math.min(Math.max(again, LEAST_ADVICE_MS), MOST_ADVICE_MS)
    setAdvice(id, adviceOf(data.suggestedWindow, renew_at!), until)
  }
}

/** Whether an authority is to be asked again. Advice that would hold for longer than any does was written under a clock ahead. */
export function isAdviceOld(until: number | null, now: number = Date.now()): boolean {
  return until === null || until <= now || until > now + MOST_ADVICE_MS + CLOCK_SLACK_MS
}

/** A moment in the window (RFC 9773 section 4.2); what was chosen before, while it is in it. */
export function adviceOf(
  window: { start: string; end: string } | undefined,
  chosen: number,
  random: number = Math.random(),
): number {
  const start = Date.parse(window?.start ?? '')
  const end = Date.parse(window?.end ?? '')
  if (!(start <= end) || (chosen >= start && chosen <= end)) return chosen
  return Math.round(start + (end - start) * random)
}

function readCertificate(name: string, version: string): X509Certificate {
  return new X509Certificate(readFileSync(versionFiles(name, version).certificate))
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
