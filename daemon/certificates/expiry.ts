import type { CertificateRow } from '#server/certificates/store.ts'
import { listUploaded } from '#server/certificates/store.ts'
import { logger } from '#server/log.ts'

const log = logger('certificates')

const DAY_MS = 24 * 3_600_000
/** By then a certificate should have been renewed, unless it was uploaded: only its owner can renew that. */
const NEAR_MS = 14 * DAY_MS
/** For certificates that last only a few days: the last sixth of their lifetime. */
const NEAR_PART = 1 / 6

/** Whether a certificate expires soon. */
export function isNearEnd(notBefore: number, notAfter: number, now: number = Date.now()): boolean {
  return notAfter - now < Math.min(NEAR_MS, (notAfter - notBefore) * NEAR_PART)
}

/** Logs once a day each certificate that expires soon. */
export class ExpiryWatch {
  readonly #logged = new Map<string, number>()

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
    if (!isNearEnd(notBefore, notAfter, now)) return void this.#logged.delete(id)
    if (this.#logged.get(id) === day) return
    this.#logged.set(id, day)
    const end = new Date(notAfter).toISOString()
    const message =
      now < notAfter
        ? `the certificate of ${label} expires at ${end}`
        : `the certificate of ${label} expired at ${end}`
    log.warn(message, error === null ? {} : { error })
  }
}
