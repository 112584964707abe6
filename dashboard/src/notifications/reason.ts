/** System errors for targets that cannot be reached, in plain words. */
const REASONS: [RegExp, string][] = [
  [/^connect ECONNREFUSED (\S+)$/, 'nothing answers at $1'],
  [/^connect (?:ETIMEDOUT|EHOSTUNREACH|ENETUNREACH) (\S+)(?: .*)?$/, '$1 cannot be reached'],
  [/^getaddrinfo (?:ENOTFOUND|EAI_AGAIN) (\S+)$/, 'the host name $1 cannot be resolved'],
  [/^(?:read|write) ECONNRESET$|^socket hang up$/, 'the connection was cut off'],
]

/** Why a delivery failed, in plain words; unknown errors stay as they are. */
export function reasonText(error: string): string {
  const known = REASONS.find(([pattern]) => pattern.test(error))
  return known ? error.replace(...known) : error
}
