/** The folder at the root of a site defined by RFC 8615, the only one with a dot that is served. */
const WELL_KNOWN = '.well-known'
/** Files with rules in a published folder: they are read, not served. */
const RULE_FILES: ReadonlySet<string> = new Set(['/_redirects', '/_headers'])

/**
 * Returns the path of a request target, percent-decoded once. Returns null if it is malformed or could mean another file
 * than it says: bad escapes, bytes that are not UTF-8, control characters, a backslash or an encoded slash, `.` and `..`.
 */
export function decodePath(target: string): string | null {
  if (/%2f|%5c|\\/i.test(target)) return null
  // Bytes above 127 that were not escaped are treated as if they were.
  const escaped = target.replaceAll(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`)
  let path: string
  try {
    path = decodeURIComponent(escaped)
  } catch {
    return null
  }
  if (/[\x00-\x1f\x7f]/.test(path)) return null
  return path.split('/').some((segment) => segment === '.' || segment === '..') ? null : path
}

/** Whether a decoded path must not be served or leads elsewhere. */
export function isHidden(path: string): boolean {
  if (RULE_FILES.has(path) || path.includes('\0')) return true
  return path.split('/').some((segment) => segment.startsWith('.') && segment !== WELL_KNOWN)
}

/** Encodes a decoded path, or a piece of one, for a URL. */
export function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}
