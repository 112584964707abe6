/** Every error code that a client may see, with its HTTP status. */
export const ERRORS = {
  invalid_request: 400,
  git_application_required: 400,
  git_authorization_rejected: 409,
  git_provider_unavailable: 502,
  git_remote_unreachable: 502,
  unauthorized: 401,
  invalid_credentials: 401,
  session_required: 403,
  forbidden: 403,
  second_factor_required: 403,
  cross_site_request: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  canceled: 409,
  precondition_failed: 412,
  payload_too_large: 413,
  range_not_satisfiable: 416,
  misdirected_request: 421,
  upgrade_required: 426,
  too_many_attempts: 429,
  database_error: 500,
  io_error: 500,
  build_failed: 500,
  internal_error: 500,
  runtime_error: 502,
  service_unavailable: 503,
} as const

export type ErrorCode = keyof typeof ERRORS

/** One of several faults in a file, which a program can show at its position. */
export interface FaultDetail {
  line: number
  column: number
  /** The keys that lead to it; empty for the file as a whole. */
  path: string
  message: string
}

/** What a client can ask for when a second factor is needed. */
export const SECOND_FACTORS = ['totp', 'passkey', 'recovery'] as const
export type SecondFactor = (typeof SECOND_FACTORS)[number]

/**
 * An error that is meant for its reader: `message` says what happened, to what, and what to do now; details that only the
 * log should have go into `cause`. Any other error that reaches a client is a bug and becomes `internal_error`.
 */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly code: ErrorCode
  /** When to try again, for `Retry-After` (RFC 9110 section 10.2.3). */
  readonly retryAfterSeconds: number | undefined
  readonly details: readonly FaultDetail[] | undefined
  /** The second factors that would do, if one is needed. */
  readonly methods: readonly SecondFactor[] | undefined
  readonly httpStatus: number

  constructor(
    code: ErrorCode,
    message: string,
    {
      retryAfterSeconds,
      details,
      methods,
      atSignIn = false,
      ...options
    }: ErrorOptions & {
      retryAfterSeconds?: number
      details?: readonly FaultDetail[]
      methods?: readonly SecondFactor[]
      atSignIn?: boolean
    } = {},
  ) {
    super(message, options)
    this.code = code
    this.retryAfterSeconds = retryAfterSeconds
    this.details = details
    this.methods = methods
    this.httpStatus = statusOf(code, atSignIn)
  }
}

/** The status of a code. At sign-in nobody is known yet, so a missing second factor is a missing credential. */
export function statusOf(code: ErrorCode, atSignIn: boolean): number {
  return atSignIn && code === 'second_factor_required' ? 401 : ERRORS[code]
}

/** What is said when there is no room for something that the server writes. */
export const DISK_FULL = "the disk of the server's data directory is full: free some space"

/** An error of a full disk (errno(3)) as one that says what to do; any other as it is. */
export function explainFullDisk(error: unknown): unknown {
  const { code } = (error ?? {}) as { code?: unknown }
  return code === 'ENOSPC' || code === 'EDQUOT'
    ? new AppError('io_error', DISK_FULL, { cause: error })
    : error
}

/** The message of anything that was thrown, for logs and stored errors. */
export function messageOf(error: unknown): string {
  // Node's error for a name with several addresses, to none of which it could connect, says nothing itself.
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}
