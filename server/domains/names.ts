import { isIP } from 'node:net'
import { domainToASCII, domainToUnicode } from 'node:url'
import { parse } from 'tldts'
import { AppError } from '../errors.ts'
import { bareHost } from '../network/addresses.ts'

/** RFC 1035 section 2.3.4, in presentation form. */
export const MAX_NAME_CHARACTERS = 253

const TOO_LONG = `must have at most ${MAX_NAME_CHARACTERS} characters`

/** RFC 1035 section 2.3.1, with digits first as RFC 1123 section 2.1 allows. */
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/** Names that no public authority certifies and no public DNS serves (RFC 2606, RFC 6761, RFC 6762, RFC 8375). */
const LOCAL_SUFFIXES = ['localhost', 'test', 'local', 'lan', 'internal', 'home.arpa']

/** Whether a normal name is one that stays on the host or its network: nothing to verify and nothing to certify. */
export function isLocalName(name: string): boolean {
  return LOCAL_SUFFIXES.some((suffix) => name === suffix || name.endsWith(`.${suffix}`))
}

/**
 * A domain name as it is kept and compared: lower case, without a trailing dot, Unicode as punycode (UTS #46); or why no
 * service could have it, as the end of a message after its field.
 */
export function readName(text: string): { name: string } | { fault: string } {
  const given = text.trim().replace(/[.。．｡]$/, '')
  if (given.includes('*'))
    return { fault: 'wildcards are not taken: name the domain itself, such as example.com' }
  if (isAddress(given)) return { fault: 'an IP address is no domain name' }
  // The conversion would drop what belongs to a URL and not to a name.
  if (/[\s:/?#@[\]\\%]/.test(given))
    return { fault: 'must be a domain name alone, without scheme, port or path' }
  // Coding takes time that grows with the square of the length, and the event loop waits for it.
  if (given.length > MAX_NAME_CHARACTERS) return { fault: TOO_LONG }
  const name = domainToASCII(given)
  const fault = faultOf(name)
  return fault === null ? { name } : { fault }
}

/** The same for one that must be one. Throws `invalid_request` that begins with `field`. */
export function normalName(text: string, field: string): string {
  const read = readName(text)
  if ('fault' in read) throw new AppError('invalid_request', `${field}: ${read.fault}`)
  return read.name
}

function faultOf(name: string): string | null {
  if (name === '') return 'must be a domain name such as example.com'
  // What the conversion took for a number is an address in disguise (0x7f.1).
  if (isAddress(name)) return 'an IP address is no domain name'
  if (name.length > MAX_NAME_CHARACTERS) return TOO_LONG
  if (!name.split('.').every((label) => LABEL.test(label)))
    return 'each label must be 1 to 63 of a-z, 0-9 and hyphen, with no hyphen first or last'
  // The conversion takes labels that are coded already as they are, and leaves those that stand for nothing.
  const shown = domainToUnicode(name)
  if (/(^|\.)xn--/.test(shown) || domainToASCII(shown) !== name)
    return 'has a label that begins with xn-- and stands for no name: write it in its own letters'
  if (name === 'localhost') return null
  if (!name.includes('.')) return 'must have at least two labels, such as example.com'
  return parse(name).publicSuffix === name && !isLocalName(name)
    ? `${name} is a public suffix, under which anyone may register: name a domain of yours`
    : null
}

function isAddress(text: string): boolean {
  return isIP(bareHost(text)) !== 0
}
