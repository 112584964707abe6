import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import type { AuthStatus } from '#server/accounts/schema.ts'
import type { CliLoginPoll, StartedCliLogin } from '#server/cli-logins/schema.ts'
import type { z } from 'zod'
import type { Call } from '../../call.ts'
import { EXIT, Fault, wrong } from '../../fault.ts'
import { looksSecret } from '../../suggest.ts'
import { userName } from '../../this-user.ts'
import { ApiFault, connectTo, type Api } from '../api.ts'
import { ask } from '../ask.ts'
import { openInBrowser } from '../browser.ts'
import { readHosts, writeHosts, type SavedHost } from '../hosts.ts'
import { checkedToken, checkedUrl, isLoopback, type Server } from '../server.ts'
import { readPlace } from '../ssh-place.ts'
import { forwardPort, runThere } from '../ssh.ts'
import { LostConnection } from '../transport.ts'
import { forget } from './hosts.ts'

const HINT_CHARACTERS = 4
const MAX_NAME_CHARACTERS = 200
const TOKEN = /dpl_[0-9a-f]{40}/

/** Signs in to a server and saves its token. */
export async function login(call: Call): Promise<void> {
  const server = await wantedServer(call)
  const isPlain = server.url.startsWith('http://') && !isLoopback(new URL(server.url).hostname)
  if (isPlain)
    call.out.note(`Note: ${server.url} sends the token unencrypted; whoever shares the network can read it.`)
  const token = call.has('token') ? await givenToken(call) : await newToken(call, server)
  const api = await connectTo({ ...server, token }, call)
  await api.get('/info')
  api.close()
  const alias = save(call, server, token)
  call.out.done(`Signed in to ${server.url} as ${alias}`, { host: server.url, alias })
}

/** Forgets servers; their tokens keep working. */
export async function logout(call: Call): Promise<void> {
  const { default: chosen, hosts } = readHosts()
  const given = call.words[0] ?? call.text('host') ?? chosen
  const aliases = call.has('all') ? Object.keys(hosts) : [given ?? '']
  const missing = aliases.find((alias) => !Object.hasOwn(hosts, alias))
  if (missing !== undefined)
    throw missing === ''
      ? new Fault(EXIT.notSignedIn, 'no server is saved')
      : new Fault(EXIT.notFound, `there is no saved server ${missing}; deployer hosts lists them`)
  const removed = forget(aliases)
  if (call.out.isJson) return call.out.json({})
  for (const { alias, url } of removed)
    call.out.line(`Forgot ${alias}. Its token works until it is revoked: ${url}/account`)
}

async function wantedServer(call: Call): Promise<Server> {
  const { hosts, default: chosen } = readHosts()
  const given = call.words[0] ?? call.text('host') ?? (process.env.DEPLOYER_HOST || null) ?? chosen
  if (given !== null && looksSecret(given))
    throw wrong(
      'a token does not go on the command line, where others can see it; pass it on standard input: deployer login <url> --token',
    )
  if (given === null && !call.mayAsk) throw wrong('name the server: deployer login <url>')
  const wanted = given ?? (await ask('Which server? (https://dashboard.example.com)'))
  const saved = Object.hasOwn(hosts, wanted) ? hosts[wanted]! : null
  const text = saved?.url ?? (wanted.includes('://') ? wanted : `https://${wanted}`)
  const url = checkedUrl(text)
  const caFile = call.text('ca') ?? (process.env.DEPLOYER_CA_FILE || null) ?? saved?.ca_file ?? null
  return { url, alias: null, token: null, tokenFrom: null, caFile, environment: null }
}

async function givenToken(call: Call): Promise<string> {
  if (process.stdin.isTTY && !call.mayAsk)
    throw wrong('a token cannot be asked for here; pass it on standard input, from a file or a program')
  const given = call.mayAsk ? await ask('Token:', { isHidden: true }) : await text(process.stdin)
  if (given.trim() === '') throw wrong('standard input has no token')
  return checkedToken(given, 'standard input')
}

/** A token that the server creates for this computer. */
async function newToken(call: Call, server: Server): Promise<string> {
  const name = (call.text('name') ?? `${userName()}@${hostname()}`).slice(0, MAX_NAME_CHARACTERS)
  if (server.url.startsWith('ssh://')) {
    const printed = await runThere(readPlace(server.url), ['token', 'create', name])
    const token = TOKEN.exec(printed ?? '')?.[0]
    if (token !== undefined) return token
    call.out.note('That user cannot create a token there; signing in by the browser.')
  }
  const api = await connectTo(server, call)
  try {
    return await approvedToken(call, api, name)
  } finally {
    api.close()
  }
}

/** Signs in by the dashboard (RFC 8628 is the model): shows a code, and asks until it has been approved there. */
async function approvedToken(call: Call, api: Api, name: string): Promise<string> {
  const { setup_required: isNew } = await api.get<z.output<typeof AuthStatus>>('/auth/status')
  const dashboard = await dashboardOf(api, call)
  if (isNew)
    throw new Fault(
      EXIT.failed,
      `${api.url} has no account yet; set it up at ${dashboard.url}/setup with the code that the server printed`,
    )
  const request = await api.send<z.output<typeof StartedCliLogin>>('POST', '/auth/cli', { name })
  const page = `${dashboard.url}/cli/${request.id}`
  process.stderr.write(
    `Approve this sign-in in the dashboard, with this code:\n\n${request.code}\n\n${page}\n\n`,
  )
  if (call.mayAsk && !call.has('no-browser')) openInBrowser(page)
  try {
    return await poll(api, request)
  } finally {
    dashboard.close()
  }
}

/** Where a browser on this computer reaches the dashboard. */
async function dashboardOf(api: Api, call: Call): Promise<{ url: string; close: () => void }> {
  if (!api.url.startsWith('ssh://')) return { url: api.url, close: () => {} }
  const place = readPlace(api.url)
  return forwardPort(place, place.api, call)
}

async function poll(
  api: Api,
  { id, secret, interval, expires_in }: z.output<typeof StartedCliLogin>,
): Promise<string> {
  const end = performance.now() + expires_in * 1_000
  while (performance.now() < end) {
    await delay(interval * 1_000)
    const answer = await askVerdict(api, id, secret)
    if (answer?.status === 'approved') return answer.token
    if (answer?.status === 'denied')
      throw new Fault(EXIT.notSignedIn, 'the sign-in was denied in the dashboard')
  }
  throw new Fault(EXIT.notSignedIn, 'the code has expired; run deployer login again')
}

/** The verdict so far; null after a lost connection, which is tried again. */
async function askVerdict(
  api: Api,
  id: string,
  secret: string,
): Promise<z.output<typeof CliLoginPoll> | null> {
  try {
    return await api.send('POST', `/auth/cli/${id}/token`, { secret })
  } catch (error) {
    if (error instanceof LostConnection) return null
    if (error instanceof ApiFault && error.status === 404)
      throw new Fault(EXIT.notSignedIn, 'the server has forgotten this sign-in; run deployer login again')
    throw error
  }
}

/** Saves the token; returns the name under which the server is saved. */
function save(call: Call, { url, caFile }: Server, token: string): string {
  const saved = readHosts()
  const alias = call.text('as') ?? aliasFor(url, saved.hosts)
  const host: SavedHost = {
    url,
    token,
    token_hint: token.slice(-HINT_CHARACTERS),
    // Commands are run in other folders.
    ca_file: caFile === null ? null : resolve(caFile),
    environment: call.text('environment') ?? saved.hosts[alias]?.environment ?? null,
    saved_at: new Date().toISOString(),
  }
  writeHosts({ ...saved, default: saved.default ?? alias, hosts: { ...saved.hosts, [alias]: host } })
  return alias
}

/** The name that the server already has, else the first label of its host, made unique. */
function aliasFor(url: string, hosts: Record<string, SavedHost>): string {
  const own = Object.entries(hosts).find(([, host]) => host.url === url)
  if (own) return own[0]
  const { hostname } = new URL(url)
  const base = /^[\d.[\]:]+$/.test(hostname) ? hostname.replace(/^\[|\]$/g, '') : hostname.split('.')[0]!
  for (let number = 1; ; number++) {
    const alias = number === 1 ? base : `${base}-${number}`
    if (!Object.hasOwn(hosts, alias)) return alias
  }
}
