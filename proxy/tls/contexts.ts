import { readFileSync } from 'node:fs'
import type { SecureContext } from 'node:tls'
import { monotonicMs } from '../clock.ts'
import { log, messageOf } from '../log.ts'
import { tls } from '../modules.ts'
import type { CertificateFiles } from '../protocol.ts'

/** Certificates in use at a time, each about 60 KiB; those shown longest ago are read again when they are asked for. */
const MAX_CONTEXTS = 1_000
/** A certificate that could not be read is tried again after this long. */
const RETRY_MS = 10_000

/** Certificates as OpenSSL has them, read when the first client asks for their host. */
export class SecureContexts {
  #contexts = new Map<string, SecureContext>()
  #failedAt = new Map<string, number>()

  /** The context of a certificate; undefined when its files cannot be used, which is logged. */
  get(files: CertificateFiles): SecureContext | undefined {
    const key = `${files.certificate}\0${files.key}`
    const context = this.#contexts.get(key) ?? this.#read(key, files)
    if (!context) return undefined
    // The order of the map is the order of use.
    this.#contexts.delete(key)
    this.#contexts.set(key, context)
    if (this.#contexts.size > MAX_CONTEXTS) this.#contexts.delete(this.#contexts.keys().next().value!)
    return context
  }

  #read(key: string, { certificate, key: keyFile }: CertificateFiles): SecureContext | undefined {
    const now = monotonicMs()
    if (now - (this.#failedAt.get(key) ?? -Infinity) < RETRY_MS) return undefined
    try {
      // What the protocol allows is decided by the terminator; this is the certificate alone.
      const context = tls().createSecureContext({
        cert: readFileSync(certificate),
        key: readFileSync(keyFile),
      })
      this.#failedAt.delete(key)
      return context
    } catch (error) {
      if (this.#failedAt.size >= MAX_CONTEXTS) this.#failedAt.clear()
      this.#failedAt.set(key, now)
      log('error', 'a certificate cannot be used', { certificate, error: messageOf(error) })
      return undefined
    }
  }
}
