import type { CertificateRow } from '#server/certificates/store.ts'
import { listUploaded } from '#server/certificates/store.ts'
import { logger } from '#server/log.ts'

const log = logger('certificates')

const DAY_MS = 24 * 3_600_000
/** What should have been renewed by then, or is nobody's to renew but its owner's. */
const NEAR_MS = 14 * DAY_MS
/** Of certificates that last a few days only: the last sixth of their life. */
const NEAR_PART = 1 / 6

/** Whether a certificate is near its end. */
export function isNearEnd(notBefore: number, notAfter: number, now: number = Date.now()): boolean {
  return notAfter - now < Math.min(NEAR_MS, (notAfter - notBefore) * NEAR_PART)
}

/** Says once a day of each certificate that it is near its end. */
export class ExpiryWatch {
  readonly #told = new Map<string, number>()

  look(rows: readonly CertificateRow[], now: number = Date.now()): void {
    for (const { id, not_before, not_after, error } of rows) {
      if (not_before !== null && not_after !== null) this.#judge(id, id, not_before, not_after, now, error)
    }
    for (const { id, hosts, not_before, not_after } of listUploaded()) {
      const names = (JSON.parse(hosts) as string[]).join(', ')
      this.#judge(id, `${names} (uploaded)`, not_before, not_after, now, null)
    }
  }

  #judge(
    id: string,
    label: string,
    notBefore: number,
    notAfter: number,
    now: number,
    error: string | null,
  ): void {
    const day = Math.floor((notAfter - now) / DAY_MS)
    if (!isNearEnd(notBefore, notAfter, now)) return void this.#told.delete(id)
    if (this.#told.get(id) === day) return
    this.#told.set(id, day)
    const end = new Date(notAfter).toISOString()
    const message =
      now < notAfter
        ? `the certificate of ${label} ends at ${end}`
        : `the certificate of ${label} ended at ${end}`
    log.warn(message, error === null ? {} : { error })
  }
}
