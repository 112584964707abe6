/** An error response of a certificate authority (RFC 7807, RFC 8555 section 6.7). */
export class AcmeProblem extends Error {
  override readonly name = 'AcmeProblem'
  /** The last part of its type, such as `rateLimited` or `badCSR`. */
  readonly kind: string
  /** When to ask again, in milliseconds from now; null if the authority did not say. */
  readonly retryAfterMs: number | null

  constructor(kind: string, message: string, retryAfterMs: number | null) {
    super(message)
    this.kind = kind
    this.retryAfterMs = retryAfterMs
  }
}

/** The authority did not answer, or not in its protocol: not a fault of the host that needs the certificate. */
export class AuthorityUnavailable extends Error {
  override readonly name = 'AuthorityUnavailable'
  /** When to ask again, in milliseconds from now; null if unknown. */
  readonly retryAfterMs: number | null

  constructor(message: string, retryAfterMs: number | null, options?: ErrorOptions) {
    super(message, options)
    this.retryAfterMs = retryAfterMs
  }
}
