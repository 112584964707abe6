import {
  createServer,
  request as requestByHttp,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import { request as requestByHttps } from 'node:https'
import type { Duplex } from 'node:stream'
import { bareHost } from '#server/network/addresses.ts'
import { answerOf } from '#server/network/answers.ts'
import { ForbiddenPlace } from '#server/network/judged.ts'

/** Fields that belong to a single connection and are not forwarded (RFC 9110 section 7.6.1). */
export const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
/** How long the host's proxy may take to accept a connection. If it is silent after that, git gives up. */
const CONNECT_MS = 20_000
const SECURE_PORT = 443
const PLAIN_PORT = 80

/** What git's programs may reach with one key, and how. */
export interface ForwardPass {
  /** The host's proxy for a scheme. */
  proxyFor(scheme: 'http' | 'https'): URL | null
  /** Throws ForbiddenPlace for a place that may not be reached. */
  judge(host: string, port: number): Promise<void>
  /** Called when the host's proxy cannot be reached or refuses this server. */
  onProxyFault(proxy: URL, what: string): void
}

/**
 * A proxy on loopback (RFC 9110 section 3.7), which judges each place that git requests, including redirects, and forwards
 * to the host's own proxy. `passOf` returns the pass for a key.
 */
export function createForwardGate(passOf: (key: string) => ForwardPass | undefined): Server {
  const server = createServer((request, response) => {
    forward(passOf, request, response).catch((error: unknown) => refuse(response, error))
  })
  server.on('connect', (request: IncomingMessage, client: Duplex, head: Buffer) => {
    client.on('error', () => {})
    tunnel(passOf, request, client, head).catch((error: unknown) => {
      client.end(`HTTP/1.1 ${statusOf(error)}\r\n${error instanceof NoKey ? ASK_FOR_KEY : ''}\r\n`)
    })
  })
  return server
}

class NoKey extends Error {}

const ASK_FOR_KEY = 'Proxy-Authenticate: Basic realm="git"\r\nConnection: close\r\nContent-Length: 0\r\n'

function statusOf(error: unknown): string {
  if (error instanceof NoKey) return '407 Proxy Authentication Required'
  return error instanceof ForbiddenPlace ? '403 Forbidden' : '502 Bad Gateway'
}

function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent) return void response.destroy()
  if (error instanceof NoKey) response.setHeader('Proxy-Authenticate', 'Basic realm="git"')
  response.writeHead(Number.parseInt(statusOf(error), 10)).end()
}

/** Forwards a request in absolute form (RFC 9112 section 3.2.2) to the host's proxy. */
async function forward(
  passOf: (key: string) => ForwardPass | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const pass = passOfRequest(passOf, request)
  const url = URL.parse(request.url ?? '')
  if (url?.protocol !== 'http:') throw new ForbiddenPlace('is not an HTTP URL')
  await pass.judge(hostOf(url), Number(url.port) || PLAIN_PORT)
  const asked = ask(pass, 'http', {
    method: request.method!,
    path: url.href,
    headers: { ...endToEnd(request.headers), host: url.host },
  })
  response.once('close', () => asked.destroy())
  request.pipe(asked)
  const answer = await answerOf(asked)
  response.writeHead(statusFor(pass, 'http', answer), endToEnd(answer.headers))
  answer.on('error', () => response.destroy()).pipe(response)
}

/** Opens a tunnel through the host's proxy (RFC 9110 section 9.3.6). */
async function tunnel(
  passOf: (key: string) => ForwardPass | undefined,
  request: IncomingMessage,
  client: Duplex,
  head: Buffer,
): Promise<void> {
  const pass = passOfRequest(passOf, request)
  const place = URL.parse(`https://${request.url}`)
  if (place === null) throw new ForbiddenPlace('is not a host and port')
  const port = Number(place.port) || SECURE_PORT
  await pass.judge(hostOf(place), port)
  const path = `${place.hostname}:${port}`
  const asked = ask(pass, 'https', { method: 'CONNECT', path, headers: { host: path } })
  client.once('close', () => asked.destroy())
  asked.end()
  const [answer, socket] = await connectionOf(asked)
  const status = statusFor(pass, 'https', answer)
  if (status !== 200) {
    socket.destroy()
    client.end(`HTTP/1.1 ${status} ${answer.statusMessage}\r\n\r\n`)
    return
  }
  client.write('HTTP/1.1 200 Connected\r\n\r\n')
  if (head.length > 0) socket.write(head)
  socket.on('error', () => client.destroy()).once('close', () => client.destroy())
  client.once('close', () => socket.destroy())
  client.pipe(socket).pipe(client)
}

function passOfRequest(
  passOf: (key: string) => ForwardPass | undefined,
  request: IncomingMessage,
): ForwardPass {
  const encoded = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(request.headers['proxy-authorization'] ?? '')?.[1] ?? ''
  const key = Buffer.from(encoded, 'base64').toString('latin1').replace(/^git:/, '')
  const pass = passOf(key)
  if (pass === undefined) throw new NoKey()
  return pass
}

/** Sends a request to the host's proxy. */
function ask(
  pass: ForwardPass,
  scheme: 'http' | 'https',
  { method, path, headers }: { method: string; path: string; headers: IncomingHttpHeaders },
): ClientRequest {
  const proxy = pass.proxyFor(scheme)
  if (proxy === null) throw new ForbiddenPlace(`is requested over ${scheme}, for which there is no proxy`)
  const isSecure = proxy.protocol === 'https:'
  const { username, password } = proxy
  const signIn = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`)
  const asked = (isSecure ? requestByHttps : requestByHttp)({
    host: hostOf(proxy),
    port: Number(proxy.port) || (isSecure ? SECURE_PORT : PLAIN_PORT),
    agent: false,
    method,
    path,
    headers: {
      ...headers,
      ...(username === '' ? {} : { 'proxy-authorization': `Basic ${signIn.toString('base64')}` }),
    },
  })
  const slow = setTimeout(
    () => asked.destroy(new Error('the proxy did not accept the connection in time')),
    CONNECT_MS,
  )
  asked.once('socket', (socket) =>
    socket.once(isSecure ? 'secureConnect' : 'connect', () => clearTimeout(slow)),
  )
  asked.once('close', () => clearTimeout(slow))
  return asked.on('error', () => pass.onProxyFault(proxy, 'cannot be reached or closed the connection'))
}

/** The answer to a CONNECT, whatever its status, and the connection. */
function connectionOf(asked: ClientRequest): Promise<[IncomingMessage, Duplex]> {
  return new Promise((resolve, reject) => {
    asked.once('connect', (answer: IncomingMessage, socket: Duplex) => resolve([answer, socket]))
    asked.once('close', () => reject(new Error('the proxy closed the connection')))
  })
}

/** The status for git. A 407 of the host's proxy becomes a 502, since git's proxy credentials are those for this gate. */
function statusFor(pass: ForwardPass, scheme: 'http' | 'https', { statusCode }: IncomingMessage): number {
  if (statusCode !== 407) return statusCode!
  pass.onProxyFault(pass.proxyFor(scheme)!, 'refused the credentials')
  return 502
}

function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name)))
}

function hostOf({ hostname }: URL): string {
  return bareHost(hostname).toLowerCase()
}
