import { existsSync, readFileSync } from 'node:fs'
import { BlockList, isIP } from 'node:net'
import { join, resolve } from 'node:path'
import { defaultDataDirectory } from '#server/options/data-directory.ts'
import type { Call } from '../call.ts'
import { EXIT, Fault, wrong } from '../fault.ts'
import { readHosts, type SavedHost } from './hosts.ts'
import { findLink } from './link.ts'
import { readPlace } from './ssh-place.ts'

/** The server that a command talks to, and what it proves itself with. */
export interface Server {
  /** `https://…`, `http://…` or `ssh://…`, without a slash at the end. */
  url: string
  /** The name under which it is saved; null if it is not. */
  alias: string | null
  token: string | null
  tokenFrom: 'DEPLOYER_TOKEN' | 'DEPLOYER_TOKEN_FILE' | 'saved' | 'this machine' | null
  caFile: string | null
  environment: string | null
}

const NOT_SIGNED_IN = 'not signed in; deployer login <url>'
/** Where a URL without TLS is taken: addresses that do not lead across the internet (RFC 1918, 4193, 6598, 3927, 4291). */
const PRIVATE_NETWORKS: readonly [string, number, 'ipv4' | 'ipv6'][] = [
  ['10.0.0.0', 8, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['fc00::', 7, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
]

/** Chooses the server of a command. Throws Fault if there is none, before anything is asked of any network. */
export function chooseServer(call: Call): Server {
  const given = call.text('host') ?? (process.env.DEPLOYER_HOST || null)
  const link = given === null ? findLink() : null
  const caFile = call.text('ca') ?? (process.env.DEPLOYER_CA_FILE || null)
  const withCa = (server: Server): Server => ({ ...server, caFile: caFile ?? server.caFile })
  if (given !== null) return withCa(namedServer(given))
  if (link?.host) {
    const { hosts } = readHosts()
    const host = Object.hasOwn(hosts, link.host) ? hosts[link.host] : undefined
    // A file in a repository only chooses among servers that were signed in to: it must not send a token elsewhere.
    if (!host)
      throw new Fault(
        EXIT.notSignedIn,
        `${link.file} names the server ${link.host}, which is not saved; deployer login <url> --as ${link.host}`,
      )
    return withCa(savedServer(link.host, host))
  }
  const { default: alias, hosts } = readHosts()
  if (alias !== null && hosts[alias]) return withCa(savedServer(alias, hosts[alias]))
  const own = serverOfThisMachine()
  if (own) return withCa(own)
  throw new Fault(EXIT.notSignedIn, NOT_SIGNED_IN)
}

/** A server given by its URL, or by the name of a saved one. */
function namedServer(given: string): Server {
  const token = tokenOfEnvironment()
  const saved = token && isUrl(given) ? null : findSaved(given)
  if (saved) return { ...savedServer(...saved), ...token }
  if (!isUrl(given))
    throw new Fault(
      EXIT.notSignedIn,
      `there is no saved server ${given}; deployer hosts lists them, deployer login <url> adds one`,
    )
  const url = checkedUrl(given)
  return { url, alias: null, token: null, tokenFrom: null, caFile: null, environment: null, ...token }
}

function findSaved(given: string): [string, SavedHost] | null {
  const { hosts } = readHosts()
  if (!isUrl(given)) return Object.hasOwn(hosts, given) ? [given, hosts[given]!] : null
  const url = checkedUrl(given)
  return Object.entries(hosts).find(([, host]) => host.url === url) ?? null
}

function savedServer(alias: string, { url, token, ca_file, environment }: SavedHost): Server {
  return { url: checkedUrl(url), alias, token, tokenFrom: 'saved', caFile: ca_file, environment }
}

/** A token as it is sent: visible ASCII alone (RFC 6750 section 2.1). Throws Fault, which does not repeat it. */
export function checkedToken(text: string, from: string): string {
  const token = text.trim()
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw new Fault(EXIT.notSignedIn, `${from} does not hold a token; deployer login, or copy it again`)
}

/** The token of the environment; it goes to the server of `--host` or `DEPLOYER_HOST` alone. */
function tokenOfEnvironment(): Pick<Server, 'token' | 'tokenFrom'> | null {
  const { DEPLOYER_TOKEN, DEPLOYER_TOKEN_FILE } = process.env
  if (DEPLOYER_TOKEN)
    return { token: checkedToken(DEPLOYER_TOKEN, 'DEPLOYER_TOKEN'), tokenFrom: 'DEPLOYER_TOKEN' }
  if (!DEPLOYER_TOKEN_FILE) return null
  try {
    const text = readFileSync(DEPLOYER_TOKEN_FILE, 'utf8')
    return { token: checkedToken(text, 'DEPLOYER_TOKEN_FILE'), tokenFrom: 'DEPLOYER_TOKEN_FILE' }
  } catch (cause) {
    if (cause instanceof Fault) throw cause
    throw wrong(`DEPLOYER_TOKEN_FILE cannot be read: ${(cause as Error).message}`, { cause })
  }
}

/**
 * The server that runs on this machine, for a user who can read its data directory; null without one. It has no file with a
 * token if it was started with one.
 */
function serverOfThisMachine(): Server | null {
  try {
    const directory = resolve(process.env.DEPLOYER_DATA_DIR || defaultDataDirectory(process.env))
    const { url } = JSON.parse(readFileSync(join(directory, 'server.json'), 'utf8')) as { url: string }
    const file = join(directory, 'api_token')
    const token = existsSync(file) ? readFileSync(file, 'utf8').trim() : null
    return { url, alias: null, token, tokenFrom: 'this machine', caFile: null, environment: null }
  } catch {
    return null
  }
}

function isUrl(text: string): boolean {
  return /^[a-z]+:\/\//i.test(text)
}

/** The URL of a server as it is compared and saved. Throws Fault for one that is not taken. */
export function checkedUrl(text: string): string {
  const url = URL.parse(text)
  if (!url || !['http:', 'https:', 'ssh:'].includes(url.protocol))
    throw wrong('the server must be a URL such as https://dashboard.example.com, or the name of a saved one')
  if (url.protocol === 'ssh:') return sshAddress(text)
  if (url.username || url.password)
    throw wrong('the URL of a server has no user or password; sign in with deployer login')
  if (url.pathname !== '/' || url.search || url.hash)
    throw wrong(`the URL of a server has no path: ${url.origin}`)
  if (url.protocol === 'http:' && !isPrivate(url.hostname))
    throw wrong(`http://${url.host} would send your token in the clear; use https://${url.host}`)
  return url.origin
}

/** Whether a host is this machine. */
export function isLoopback(hostname: string): boolean {
  const address = hostname.replace(/^\[|\]$/g, '')
  return (
    address === 'localhost' ||
    address.endsWith('.localhost') ||
    address === '::1' ||
    /^127\.[\d.]+$/.test(address)
  )
}

function isPrivate(hostname: string): boolean {
  if (isLoopback(hostname)) return true
  const address = hostname.replace(/^\[|\]$/g, '')
  const family = isIP(address)
  if (family === 0) return false
  const list = new BlockList()
  for (const [network, prefix, type] of PRIVATE_NETWORKS) list.addSubnet(network, prefix, type)
  return list.check(address, family === 4 ? 'ipv4' : 'ipv6')
}

/** What stands before the host and after it is judged before ssh is started (`readPlace`). */
function sshAddress(text: string): string {
  readPlace(text)
  return text.replace(/\/$/, '')
}
