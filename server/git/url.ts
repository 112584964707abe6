/** How a repository is reached. */
export type RepositoryProtocol = 'https' | 'http' | 'ssh' | 'git'

/** A repository address in its parts. */
export interface RepositoryUrl {
  protocol: RepositoryProtocol
  /** Host name or address; an IPv6 address is without brackets. */
  host: string
  /** Null is the protocol's own port. */
  port: number | null
  /** The path as it was written, without a leading slash. */
  path: string
  username: string | null
  password: string | null
  /** True for `user@host:path`, the form of scp. */
  scp: boolean
}

/** Longer addresses are refused: no host makes them, and they end on a command line and in a log. */
const MAX_URL_CHARACTERS = 2_048

const EXAMPLES = 'such as https://github.com/owner/name.git or git@github.com:owner/name.git'
const PROTOCOLS: Record<string, RepositoryProtocol> = {
  'https:': 'https',
  'http:': 'http',
  'ssh:': 'ssh',
  'git:': 'git',
}

/** Why a text is no repository address that a service can deploy from; null when it is one. */
export function repositoryUrlFault(text: string): string | null {
  const parsed = read(text)
  return typeof parsed === 'string' ? parsed : null
}

/** The parts of a repository address, or null when it is not one (`repositoryUrlFault` says why). */
export function parseRepositoryUrl(text: string): RepositoryUrl | null {
  const parsed = read(text)
  return typeof parsed === 'string' ? null : parsed
}

/** An address without its credentials, and those. `username` stays in the address of an ssh remote, which needs it. */
export function splitCredentials(text: string): {
  url: string
  username: string | null
  password: string | null
} {
  const parsed = parseRepositoryUrl(text)
  if (!parsed || parsed.protocol === 'ssh') return { url: text, username: null, password: null }
  const { username, password } = parsed
  return { url: text.replace(AUTHORITY_CREDENTIALS, '$1'), username, password }
}

/**
 * An address as it may be shown: what may be a secret in it becomes `***`. A user name alone is one too over
 * http and https, where tokens are often given in its place.
 */
export function maskRepositoryUrl(text: string): string {
  return text.replace(AUTHORITY_CREDENTIALS, (whole, start: string, credentials: string) => {
    if (/^ssh:/i.test(start))
      return credentials.includes(':') ? `${start}${credentials.split(':')[0]}:***@` : whole
    return `${start}***@`
  })
}

/** Everything between `//` and the last `@` before the path. */
const AUTHORITY_CREDENTIALS = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)@/i

function read(text: string): RepositoryUrl | string {
  if (text === '') return `must not be empty: give a repository address ${EXAMPLES}`
  if (text.length > MAX_URL_CHARACTERS) return `must have at most ${MAX_URL_CHARACTERS} characters`
  if (/[\u0000-\u0020\u007f-\u00a0\u2028\u2029\ufeff]/.test(text))
    return 'must not contain spaces or control characters'
  if (text.startsWith('-')) return `must not begin with "-": give a repository address ${EXAMPLES}`
  if (/^[a-z0-9]+::/i.test(text))
    return `must not name a remote helper ("::"): give a repository address ${EXAMPLES}`
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return readUrl(text)
  return readScp(text)
}

function readUrl(text: string): RepositoryUrl | string {
  const scheme = /^[a-z0-9+.-]+:/i.exec(text)![0].toLowerCase()
  const protocol = PROTOCOLS[scheme]
  if (!protocol) return `must use https, http, ssh or git, not "${scheme}//"`
  let url: URL
  try {
    url = new URL(text)
  } catch {
    return `is not an address that can be read: give one ${EXAMPLES}`
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  if (host === '' || host.startsWith('-')) return `must name a host: give a repository address ${EXAMPLES}`
  if (url.pathname.replaceAll('/', '') === '') return `must name a repository after the host, ${EXAMPLES}`
  if (/[?#\\]/.test(text)) return 'must not contain "?", "#" or a backslash'
  const username = decode(url.username)
  const password = decode(url.password)
  if (username === undefined || password === undefined)
    return 'has credentials that are not percent-encoded properly'
  // git hands credentials to its helpers as lines (git-credential(1)).
  if (/[\u0000-\u001f]/.test(`${username}${password}`))
    return 'must not have control characters in its credentials'
  if (protocol === 'ssh' && password)
    return "must not carry a password over ssh: add the server's public key to the host"
  if (username?.startsWith('-')) return 'must not have a user name that begins with "-"'
  if (protocol === 'git' && (username || password))
    return 'must not carry credentials over git://, which has no sign-in'
  const path = url.pathname.replace(/^\/+/, '')
  return {
    protocol,
    host,
    port: url.port === '' ? null : Number(url.port),
    path,
    username,
    password,
    scp: false,
  }
}

/** `user@host:path` (git-clone(1), "GIT URLS"); without a user it reads as a local path, so one is wanted. */
function readScp(text: string): RepositoryUrl | string {
  const match =
    /^([A-Za-z0-9_.][A-Za-z0-9_.+-]*)@(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9][A-Za-z0-9._-]*):([^\\]+)$/.exec(text)
  if (!match) return `must be a repository address ${EXAMPLES}; local paths are not taken`
  const [, username, host, path] = match as unknown as [string, string, string, string]
  if (path.startsWith('-') || path.replaceAll('/', '') === '') return 'must name a repository after the ":"'
  const bare = host.replace(/^\[(.*)\]$/, '$1')
  return { protocol: 'ssh', host: bare, port: null, path, username, password: null, scp: true }
}

function decode(part: string): string | null | undefined {
  if (part === '') return null
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}
