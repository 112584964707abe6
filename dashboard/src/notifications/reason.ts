/** What the system's calls say when a target cannot be reached, in the words of people. */
const REASONS: [RegExp, string][] = [
  [/^connect ECONNREFUSED (\S+)$/, 'nothing answers at $1'],
  [/^connect (?:ETIMEDOUT|EHOSTUNREACH|ENETUNREACH) (\S+)(?: .*)?$/, '$1 cannot be reached'],
  [/^getaddrinfo (?:ENOTFOUND|EAI_AGAIN) (\S+)$/, 'the host name $1 cannot be resolved'],
  [/^(?:read|write) ECONNRESET$|^socket hang up$/, 'the connection was cut off'],
]

/** Why something was not taken, as a person would say it; what is not known is left as it is. */
export function reasonText(error: string): string {
  const known = REASONS.find(([pattern]) => pattern.test(error))
  return known ? error.replace(...known) : error
}
