/** The protocols by which a repository can be reached. */
export type RepositoryProtocol = 'https' | 'http' | 'ssh' | 'git'

/** The decoded parts of a repository address. */
export interface RepositoryUrl {
  protocol: RepositoryProtocol
  /** Host name or address in lower case; IPv6 without brackets. */
  host: string
  /** Null means the protocol's default port. */
  port: number | null
  /** Without leading slashes, except for an absolute path in scp form. */
  path: string
  username: string | null
  password: string | null
  /** Whether the address has the scp form, `user@host:path`. */
  scp: boolean
}

/** Longer addresses are refused: no host has them, and they end up on a command line and in a log. */
const MAX_URL_CHARACTERS = 2_048

const EXAMPLES = 'such as https://github.com/owner/name.git or git@github.com:owner/name.git'
const PORTS: Record<RepositoryProtocol, number> = { https: 443, http: 80, ssh: 22, git: 9418 }
const MAX_PORT = 65_535

/**
 * ssh gets the user name as an argument, so few characters are allowed; `@` is for hosts with e-mail addresses as user
 * names.
 */
const SSH_USERNAME = /^[A-Za-z0-9_.][A-Za-z0-9_.+@-]*$/
const CONTROL = /\p{Cc}/u

/** The default ports of the protocols. */
export function usualPort(protocol: RepositoryProtocol): number {
  return PORTS[protocol]
}

/** Why a text is not a repository address that a service can deploy from; null when it is one. */
export function repositoryUrlFault(text: string): string | null {
  const parsed = read(text)
  return typeof parsed === 'string' ? parsed : null
}

/** The parts of a repository address, or null when it is not one (`repositoryUrlFault` says why). */
export function parseRepositoryUrl(text: string): RepositoryUrl | null {
  const parsed = read(text)
  return typeof parsed === 'string' ? null : parsed
}

/**
 * The address that git is given, rebuilt from the parsed parts. A parser with other rules about escapes, letter case or
 * slashes could see another host in the original text than the one that was checked. Credentials of http and https are left
 * out; the user name of ssh is a part of the address.
 */
export function formatRepositoryUrl({ protocol, host, port, path, username, scp }: RepositoryUrl): string {
  const user = protocol === 'ssh' && username !== null ? username : null
  const bracketed = host.includes(':') ? `[${host}]` : host
  if (scp) return `${user}@${bracketed}:${path}`
  const before = user === null ? '' : `${encodeURIComponent(user)}@`
  const after = port === null ? '' : `:${port}`
  return `${protocol}://${before}${bracketed}${after}/${encodePath(path)}`
}

/**
 * The address that git is given, and the credentials that were in it. A text that is not an address is returned as it is.
 */
export function splitCredentials(text: string): {
  url: string
  username: string | null
  password: string | null
} {
  const parsed = parseRepositoryUrl(text)
  if (!parsed) return { url: text, username: null, password: null }
  const { protocol, username, password } = parsed
  const isPart = protocol === 'ssh'
  return {
    url: formatRepositoryUrl(parsed),
    username: isPart ? null : username,
    password: isPart ? null : password,
  }
}

function read(text: string): RepositoryUrl | string {
  if (text === '') return `must not be empty: give a repository address ${EXAMPLES}`
  if (text.length > MAX_URL_CHARACTERS) return `must have at most ${MAX_URL_CHARACTERS} characters`
  if (/[\p{Cc}\p{Zs}\p{Zl}\p{Zp}\ufeff]/u.test(text)) return 'must not contain spaces or control characters'
  if (!text.isWellFormed()) return 'must be well-formed Unicode'
  if (text.startsWith('-')) return `must not begin with "-": give a repository address ${EXAMPLES}`
  if (/^[a-z0-9]+::/i.test(text))
    return `must not name a remote helper ("::"): give a repository address ${EXAMPLES}`
  const scheme = /^[a-z][a-z0-9+.-]*(?=:\/\/)/i.exec(text)?.[0]
  if (scheme === undefined) return readScp(text)
  const rest = text.slice(scheme.length + '://'.length)
  const authority = rest.split('/', 1)[0]!
  return readUrl(scheme.toLowerCase(), authority, rest.slice(authority.length))
}

/** Parses the URL form (RFC 3986 section 3). git takes the last `@` before the path as the end of the credentials. */
function readUrl(scheme: string, authority: string, rest: string): RepositoryUrl | string {
  if (!isProtocol(scheme)) return `must use https, http, ssh or git, not "${scheme}://"`
  if (/[?#\\]/.test(authority + rest)) return 'must not contain "?", "#" or a backslash'
  const at = authority.lastIndexOf('@')
  const credentials = readCredentials(scheme, authority.slice(0, Math.max(at, 0)))
  if (typeof credentials === 'string') return credentials
  const place = readPlace(scheme, authority.slice(at + 1))
  if (typeof place === 'string') return place
  const path = readPath(rest.replace(/^\/+/, ''), decode)
  if ('fault' in path) return path.fault
  return { protocol: scheme, ...place, path: path.decoded, ...credentials, scp: false }
}

/**
 * Parses `user@host:path` (git-clone(1), "GIT URLS"), which is not percent-decoded. Without a user it would look like a
 * local path, so one is required.
 */
function readScp(text: string): RepositoryUrl | string {
  const match = /^([^@/:]*)@(\[[^\]]*\]|[^[\]:/@]*):(.*)$/.exec(text)
  const host = match ? readHost(match[2]!) : null
  if (!match || host === null || !SSH_USERNAME.test(match[1]!))
    return `must be a repository address ${EXAMPLES}; local paths are not supported`
  const written = match[3]!
  if (written.includes('\\')) return 'must not contain a backslash'
  const path = readPath(written.replace(/^\/+/, ''), (segment) => segment)
  if ('fault' in path) return path.fault
  // git drops whatever precedes a "~" there (connect.c, parse_connect_url).
  if (/^(-|[^/]~)/.test(written))
    return 'must not have a path that begins with "-" or has "~" in second place'
  const root = written.startsWith('/') ? '/' : ''
  return {
    protocol: 'ssh',
    host,
    port: null,
    path: `${root}${path.decoded}`,
    username: match[1]!,
    password: null,
    scp: true,
  }
}

type Credentials = Pick<RepositoryUrl, 'username' | 'password'>

function readCredentials(protocol: RepositoryProtocol, text: string): Credentials | string {
  const colon = text.indexOf(':')
  const username = decode(colon < 0 ? text : text.slice(0, colon))
  const password = decode(colon < 0 ? '' : text.slice(colon + 1))
  if (username === null || password === null) return 'has credentials that are not percent-encoded properly'
  // git passes credentials to its helpers as lines (git-credential(1)).
  if (CONTROL.test(username + password)) return 'must not have control characters in its credentials'
  if (protocol === 'ssh' && password !== '')
    return "must not carry a password over ssh: add the server's public key to the host"
  if (protocol === 'ssh' && username !== '' && !SSH_USERNAME.test(username))
    return 'must have a user name of letters, digits and any of _ . + @ -'
  if (protocol === 'git' && text !== '') return 'must not carry credentials over git://, which has no sign-in'
  return { username: username || null, password: password || null }
}

function readPlace(
  protocol: RepositoryProtocol,
  text: string,
): Pick<RepositoryUrl, 'host' | 'port'> | string {
  const match = /^(\[[^\]]*\]|[^[\]:]*)(?::(\d{0,5}))?$/.exec(text)
  const host = match ? readHost(match[1]!) : null
  const port = Number(match?.[2] || PORTS[protocol])
  if (host === null) return `must name a host: give a repository address ${EXAMPLES}`
  if (port === 0 || port > MAX_PORT) return `must have a port from 1 to ${MAX_PORT}`
  return { host, port: port === PORTS[protocol] ? null : port }
}

/**
 * Normalizes a host as the network sees it; null when it is invalid. The URL rules of the web decide for every protocol:
 * escapes are decoded, international names become ASCII, numbers in any base become an address.
 */
function readHost(text: string): string | null {
  const host = URL.parse(`http://${text}/`)?.hostname ?? ''
  const ipv6 = /^\[([0-9a-f:.]+)\]$/.exec(host)?.[1]
  if (ipv6 !== undefined) return ipv6
  return /^[a-z0-9_]([a-z0-9._-]*[a-z0-9_.])?$/.test(host) ? host : null
}

/** Checks and decodes each segment, so that no slash and no ".." can hide in an escape. */
function readPath(
  text: string,
  decodeSegment: (segment: string) => string | null,
): { decoded: string } | { fault: string } {
  if (text === '') return { fault: `must name a repository after the host, ${EXAMPLES}` }
  const segments: string[] = []
  for (const written of text.split('/')) {
    const segment = decodeSegment(written)
    if (segment === null) return { fault: 'has a path that is not percent-encoded properly' }
    if (CONTROL.test(segment)) return { fault: 'must not have control characters in its path' }
    if (/[/\\]/.test(segment)) return { fault: 'must not hide a slash in its path' }
    if (segment === '.' || segment === '..') return { fault: 'must not have "." or ".." in its path' }
    segments.push(segment)
  }
  const decoded = segments.join('/')
  // When git sees this anywhere, it takes what follows for the host (connect.c, host_end).
  return decoded.includes('@[') ? { fault: 'must not have "@[" in its path' } : { decoded }
}

/** The characters that a web address escapes in a path, and those that would begin its query or fragment. */
function encodePath(path: string): string {
  return encodeURI(path).replaceAll('?', '%3F').replaceAll('#', '%23')
}

function isProtocol(scheme: string): scheme is RepositoryProtocol {
  return Object.hasOwn(PORTS, scheme)
}

/** Undoes percent-encoding; null when it is invalid. */
function decode(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
