import { randomBytes, scryptSync } from 'node:crypto'
import { connect, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll } from 'vitest'
import type { OwnProxyOptions } from '../../../daemon/proxy/own-proxy.ts'
import type { Edge, RouteTable } from '../../../proxy/protocol.ts'
import { certificate } from '../secure.ts'
import { ADDRESS, HOST, HttpUpstream, ProxyStand, statusOf, tableOf, targetOf } from '../stand.ts'

/** The same service over TLS. */
export const SECURE_HOST = 'secure.test'

export let stand: ProxyStand
let upstreams: HttpUpstream[] = []

/** Serves two instances, `one` and `two`, for the tests of a file. */
export function serve(options: Partial<OwnProxyOptions> = {}): void {
  beforeAll(async () => {
    upstreams = [await mirror('one'), await mirror('two')]
    stand = await ProxyStand.start(tableFor({}), options)
  })
  afterAll(async () => {
    await stand.stop()
    for (const upstream of upstreams) upstream.close()
  })
}

/** An instance that answers its path, its name and what it was asked, and echoes what WebSockets send. */
async function mirror(instance: string): Promise<HttpUpstream> {
  const upstream = await HttpUpstream.start(instance, (request, response) => {
    const fields = Object.fromEntries(
      Object.entries(request.headersDistinct).map(([name, values]) => [name, values!.join('|')]),
    )
    void text(request).then(
      (body) => {
        response.setHeader('X-Frame-Options', 'SAMEORIGIN').setHeader('Set-Cookie', 'theirs=1')
        const answer = () =>
          response.end(
            `${request.url} ${instance} ${JSON.stringify({ instance, path: request.url, fields, body: body.length })}`,
          )
        if (request.url === '/slow') setTimeout(answer, 3_000)
        else answer()
      },
      () => {},
    )
  })
  upstream.server.on('upgrade', (_request, socket) => {
    socket.on('error', () => {})
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n')
    socket.pipe(socket)
  })
  return upstream
}

/** A table whose service asks for this, on a plain and an encrypted host. */
export function tableFor(edge: Edge, more: Partial<RouteTable> = {}): RouteTable {
  return tableOf([], {
    listeners: [
      { address: ADDRESS, protocol: 'http' },
      { address: '127.0.0.2:0', protocol: 'https' },
    ],
    certificates: { [SECURE_HOST]: certificate('app') },
    hosts: { [HOST]: 'app', [SECURE_HOST]: 'app' },
    targets: { app: { ...targetOf(upstreams.map(({ spec }) => spec)), edge } },
    ...more,
  })
}

/** Has the service ask for this. With trusted proxies, `X-Forwarded-For` says who the client is. */
export async function apply(edge: Edge, more: Partial<RouteTable> = {}): Promise<void> {
  await stand.client.applyTable(tableFor(edge, more))
}

export const TRUSTING = { trusted_proxies: ['127.0.0.0/8'] }

/** The field by which a trusted proxy says who the client is. */
export const from = (address: string) => `X-Forwarded-For: ${address}`

export interface Reply {
  status: number
  fields: IncomingHttpHeaders
  body: string
  /** What the instance was asked. */
  asked: { instance: string; path: string; fields: Record<string, string>; body: number }
}

/** A request on a connection of its own. */
export async function ask(path: string, ...fields: string[]): Promise<Reply> {
  return parse(
    await stand
      .raw()
      .request(`GET ${path} HTTP/1.1`, `Host: ${HOST}`, ...fields, 'Connection: close')
      .end(),
  )
}

export function parse(received: string): Reply {
  const [head = '', body = ''] = received.split(/\r\n\r\n(.*)/s)
  const fields: Record<string, string> = {}
  for (const line of head.split('\r\n').slice(1)) {
    const [name = '', value = ''] = line.split(/: (.*)/s)
    const key = name.toLowerCase()
    fields[key] = key in fields ? `${fields[key]}, ${value}` : value
  }
  return { status: statusOf(received), fields, body, asked: askedIn(body) }
}

/** The same over HTTP/2 and TLS. */
export async function ask2(path: string, fields: OutgoingHttpHeaders = {}, body?: Buffer): Promise<Reply> {
  const session = connect(`https://127.0.0.2:${stand.client.bound[1]!.port}`, {
    servername: SECURE_HOST,
    rejectUnauthorized: false,
  })
  session.on('error', () => {})
  try {
    const stream = session.request({
      ':authority': SECURE_HOST,
      ':path': path,
      ...(body && { ':method': 'POST' }),
      ...fields,
    })
    let answer: IncomingHttpHeaders & { ':status'?: number } = {}
    stream.on('response', (headers) => (answer = headers))
    stream.end(body)
    const content = await text(stream).catch(() => '')
    return { status: answer[':status'] ?? 0, fields: answer, body: content, asked: askedIn(content) }
  } finally {
    session.destroy()
  }
}

function askedIn(body: string): Reply['asked'] {
  try {
    return JSON.parse(body.slice(body.indexOf('{'), body.lastIndexOf('}') + 1)) as Reply['asked']
  } catch {
    return { instance: '', path: '', fields: {}, body: 0 }
  }
}

/** A hash that costs little. */
export function hashOf(password: string, ln = 4): string {
  const salt = randomBytes(16)
  const key = scryptSync(password, salt, 32, { N: 2 ** ln, r: 8, p: 1, maxmem: 2 ** 27 })
  const encode = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '')
  return `$scrypt$ln=${ln},r=8,p=1$${encode(salt)}$${encode(key)}`
}

/** The field with a user name and a password. */
export function basic(username: string, password: string): string {
  return `Authorization: Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}
