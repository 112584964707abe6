/** What a certificate authority refused, as RFC 7807 and RFC 8555 section 6.7 say it. */
export class AcmeProblem extends Error {
  override readonly name = 'AcmeProblem'
  /** The last part of its type: `rateLimited`, `badCSR`. */
  readonly kind: string
  /** When to ask again, in milliseconds from now; null where it did not say. */
  readonly retryAfterMs: number | null

  constructor(kind: string, message: string, retryAfterMs: number | null) {
    super(message)
    this.kind = kind
    this.retryAfterMs = retryAfterMs
  }
}

/** The authority did not answer, or not with anything of its protocol: no fault of the host that asked. */
export class AuthorityAway extends Error {
  override readonly name = 'AuthorityAway'
}
