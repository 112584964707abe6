import { isIP } from 'node:net'
import { domainToASCII, domainToUnicode } from 'node:url'
import { parse } from 'tldts'
import { AppError } from '../errors.ts'
import { bareHost } from '../network/addresses.ts'

/** RFC 1035 section 2.3.4, in presentation form. */
export const MAX_NAME_CHARACTERS = 253

const IS_ADDRESS = 'must be a domain name, not an IP address'
const TOO_LONG = `must have at most ${MAX_NAME_CHARACTERS} characters`

/** RFC 1035 section 2.3.1, with leading digits as RFC 1123 section 2.1 allows. */
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/** Names that public authorities do not certify and public DNS does not serve (RFC 2606, RFC 6761, RFC 6762, RFC 8375). */
const LOCAL_SUFFIXES = ['localhost', 'test', 'local', 'lan', 'internal', 'home.arpa']

/** Whether a normalized name is local to the host or its network: there is nothing to verify or certify. */
export function isLocalName(name: string): boolean {
  return LOCAL_SUFFIXES.some((suffix) => name === suffix || name.endsWith(`.${suffix}`))
}

/**
 * Normalizes a domain name for storing and comparing: lower case, without a trailing dot, Unicode as punycode (UTS #46).
 * Returns a fault, a message to put after the field's name, for one that no service could have.
 */
export function readName(text: string): { name: string } | { fault: string } {
  const given = text.trim().replace(/[.。．｡]$/, '')
  if (given.includes('*'))
    return { fault: 'wildcards are not accepted: enter the domain itself, such as example.com' }
  if (isAddress(given)) return { fault: IS_ADDRESS }
  // The conversion would silently drop other parts of a URL.
  if (/[\s:/?#@[\]\\%]/.test(given))
    return { fault: 'must be only a domain name, without scheme, port or path' }
  // The conversion takes time quadratic in the length and blocks the event loop.
  if (given.length > MAX_NAME_CHARACTERS) return { fault: TOO_LONG }
  const name = domainToASCII(given)
  const fault = faultOf(name)
  return fault === null ? { name } : { fault }
}

/** The same for a name that must be valid. Throws `invalid_request` whose message begins with `field`. */
export function normalName(text: string, field: string): string {
  const read = readName(text)
  if ('fault' in read) throw new AppError('invalid_request', `${field}: ${read.fault}`)
  return read.name
}

function faultOf(name: string): string | null {
  if (name === '') return 'must be a domain name such as example.com'
  // The conversion turns disguised addresses (0x7f.1) into plain ones.
  if (isAddress(name)) return IS_ADDRESS
  if (name.length > MAX_NAME_CHARACTERS) return TOO_LONG
  if (!name.split('.').every((label) => LABEL.test(label)))
    return 'each label must be 1 to 63 characters of a-z, 0-9 and hyphens, and not begin or end with a hyphen'
  // The conversion leaves labels that are already punycode as they are, including invalid ones.
  const shown = domainToUnicode(name)
  if (/(^|\.)xn--/.test(shown) || domainToASCII(shown) !== name)
    return 'has a label that begins with xn-- but is not valid punycode: write it in its own letters'
  if (name === 'localhost') return null
  if (!name.includes('.')) return 'must have at least two labels, such as example.com'
  return parse(name).publicSuffix === name && !isLocalName(name)
    ? `${name} is a public suffix, under which anyone can register: enter a domain of your own`
    : null
}

function isAddress(text: string): boolean {
  return isIP(bareHost(text)) !== 0
}
