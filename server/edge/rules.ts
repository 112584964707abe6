import { patternFault } from '../text/path-patterns.ts'

/** Each rule returns what is wrong with a value, worded to follow the field's name in a message, or null. */

/** C0, DEL and C1: neither a user name, a password nor a header may have them (RFC 7617 section 2, RFC 9110 section 5.5). */
const CONTROL = /[\x00-\x1f\x7f-\x9f]/

/** The name of a user of HTTP basic authentication, which ends at the first colon (RFC 7617 section 2). */
export function usernameFault(name: string): string | null {
  if (name.includes(':')) return 'must not contain a colon, which ends it in what browsers send'
  return CONTROL.test(name) ? 'must not contain control characters' : null
}

export function passwordFault(password: string): string | null {
  return CONTROL.test(password) ? 'must not contain control characters' : null
}

/** What an escape must not stand for: a path would have two spellings, one of which the rule does not match. */
const PLAIN_CHARACTERS = /[\x00-\x1f\x7f\w.~/\\:*!$&'()+,;=@-]/

/** A path that needs no password: a pattern in the one spelling that requests are compared in. */
export function exceptPathFault(path: string): string | null {
  const fault = patternFault(path)
  if (fault !== null) return fault
  if (/[\x00-\x1f\x7f\\]/.test(path))
    return `${JSON.stringify(path)} has characters that a path cannot contain`
  if (path.includes('//')) return `${path} must not contain //`
  if (path.split('/').some((segment) => segment === '.' || segment === '..'))
    return `${path} must not contain . or ..`
  const escaped = [...path.matchAll(/%([0-7][0-9a-f])/gi)].find(([, hex]) =>
    PLAIN_CHARACTERS.test(String.fromCharCode(Number.parseInt(hex!, 16))),
  )
  return escaped ? `${path} must not contain ${escaped[0]}: write the character itself` : null
}

/** Names in lower case that frame an answer, say how its body is coded, or name its connection. */
const RESERVED_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-range',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-request-id',
])

/** The name of a header that a service may set or remove in its answers: the token of RFC 9110 section 5.6.2. */
export function headerNameFault(name: string): string | null {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
    return `${JSON.stringify(name)} is not the name of a header, such as X-Frame-Options`
  return RESERVED_HEADERS.has(name.toLowerCase()) ? `${name} is set only by the server and the program` : null
}

/** The value of a header. Recipients disagree about bytes that are not ASCII. */
export function headerValueFault(value: string): string | null {
  return /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/.test(value)
    ? null
    : 'must be visible ASCII on one line, with no space at its ends; null removes the header'
}
