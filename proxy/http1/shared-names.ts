import { ascii, equalsFolded } from './bytes.ts'

/**
 * Fields that are the same for many visitors and services and contain no secrets. Only lines of these are remembered beyond
 * their message: everyone shares that memory, and how long a lookup takes reveals something about what others have sent. The
 * nonce of a policy is no secret any more once it was sent.
 */
export const SHARED_NAMES: ReadonlySet<string> = new Set([
  'accept',
  'accept-ch',
  'accept-encoding',
  'accept-language',
  'accept-ranges',
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-origin',
  'access-control-expose-headers',
  'access-control-max-age',
  'allow',
  'alt-svc',
  'cache-control',
  'content-encoding',
  'content-language',
  'content-security-policy',
  'content-security-policy-report-only',
  'content-type',
  'cross-origin-embedder-policy',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
  'date',
  'nel',
  'origin-agent-cluster',
  'permissions-policy',
  'pragma',
  'priority',
  'referrer-policy',
  'report-to',
  'reporting-endpoints',
  'sec-ch-ua',
  'sec-ch-ua-mobile',
  'sec-ch-ua-platform',
  'sec-fetch-dest',
  'sec-fetch-mode',
  'sec-fetch-site',
  'sec-fetch-user',
  'server',
  'strict-transport-security',
  'timing-allow-origin',
  'upgrade-insecure-requests',
  'user-agent',
  'vary',
  'via',
  'x-content-type-options',
  'x-dns-prefetch-control',
  'x-download-options',
  'x-frame-options',
  'x-permitted-cross-domain-policies',
  'x-powered-by',
  'x-robots-tag',
  'x-ua-compatible',
  'x-xss-protection',
])

const BY_LENGTH: Uint8Array[][] = []
for (const name of SHARED_NAMES) (BY_LENGTH[name.length] ??= []).push(ascii(name))

/** Whether `bytes[start, end)` is one of these names. */
export function isShared(bytes: Uint8Array, start: number, end: number): boolean {
  const names = BY_LENGTH[end - start]
  if (names) for (const name of names) if (equalsFolded(bytes, start, end, name)) return true
  return false
}
