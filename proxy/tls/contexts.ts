import { readFileSync } from 'node:fs'
import type { SecureContext } from 'node:tls'
import { monotonicMs } from '../clock.ts'
import { log, messageOf } from '../log.ts'
import { tls } from '../modules.ts'
import type { CertificateFiles } from '../protocol.ts'

/** Max certificates in memory, each about 60 KiB; those not used for longest are read again on demand. */
const MAX_CONTEXTS = 1_000
/** How long until reading a faulty certificate is retried. */
const RETRY_MS = 10_000

/** Certificates in OpenSSL's form, read when a client first asks for their host. */
export class SecureContexts {
  #contexts = new Map<string, SecureContext>()
  #failedAt = new Map<string, number>()

  /** Returns the context of a certificate; undefined if its files cannot be used, which is logged. */
  get(files: CertificateFiles): SecureContext | undefined {
    const key = `${files.certificate}\0${files.key}`
    const context = this.#contexts.get(key) ?? this.#read(key, files)
    if (!context) return undefined
    // The map is ordered by last use.
    this.#contexts.delete(key)
    this.#contexts.set(key, context)
    if (this.#contexts.size > MAX_CONTEXTS) this.#contexts.delete(this.#contexts.keys().next().value!)
    return context
  }

  #read(key: string, { certificate, key: keyFile }: CertificateFiles): SecureContext | undefined {
    const now = monotonicMs()
    if (now - (this.#failedAt.get(key) ?? -Infinity) < RETRY_MS) return undefined
    try {
      // Only the certificate: the terminator decides what the protocol allows.
      const context = tls().createSecureContext({
        cert: readFileSync(certificate),
        key: readFileSync(keyFile),
      })
      this.#failedAt.delete(key)
      return context
    } catch (error) {
      if (this.#failedAt.size >= MAX_CONTEXTS) this.#failedAt.clear()
      this.#failedAt.set(key, now)
      log('error', 'cannot use a certificate', { certificate, error: messageOf(error) })
      return undefined
    }
  }
}
