import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import {
  connect,
  createServer as createNetServer,
  type AddressInfo,
  type Server as NetServer,
} from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { openPass } from '../../daemon/sources/gate.ts'
import { withRemote } from '../../daemon/sources/git-remote.ts'
import { listRefs } from '../../daemon/sources/refs.ts'
import type { Reach } from '#server/network/addresses.ts'
import { useBuiltReader } from '../support/reader.ts'
import { ANYWHERE, Repository, startRemotes } from './remotes.ts'
import { serveGit } from './smart-http.ts'

const VARIABLES = ['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy']
let server: Server
let port: number
const asked: string[] = []
const signedIn: (string | undefined)[] = []
/** What the proxy says to a request. */
let answer: (request: IncomingMessage, response: ServerResponse) => void
/** Where it connects to, if it does. */
let secure: NetServer | null

beforeAll(useBuiltReader)
beforeAll(async () => {
  // A proxy is asked for full addresses, a host for paths (RFC 9112 section 3.2).
  server = createServer((request, response) => {
    asked.push(request.url!)
    signedIn.push(request.headers['proxy-authorization'])
    answer(request, response)
  })
  server.on('connect', (request, socket) => {
    asked.push(`CONNECT ${request.url}`)
    if (secure === null) return socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
    const host = connect((secure.address() as AddressInfo).port, '127.0.0.1')
    socket.write('HTTP/1.1 200 Connected\r\n\r\n')
    host
      .on('error', () => {})
      .pipe(socket)
      .on('error', () => {})
      .pipe(host)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  port = (server.address() as AddressInfo).port
})
afterAll(() => void server.close())
beforeEach(() => {
  asked.length = 0
  signedIn.length = 0
  secure = null
  answer = (_, response) => void response.writeHead(404).end()
  for (const name of VARIABLES) vi.stubEnv(name, '').stubEnv(name.toUpperCase(), '')
})
afterEach(() => vi.unstubAllEnvs())

const proxy = () => `http://127.0.0.1:${port}`

/** Why a repository cannot be listed. */
async function faultOf(url: string, reach: Reach = ANYWHERE): Promise<string> {
  const access = { url, reach, sshKeyFile: '/nonexistent', knownHostsFile: '/nonexistent' }
  const { signal } = new AbortController()
  return await withRemote(access, signal, (remote) => listRefs(remote, ['HEAD'])).then(
    () => 'none',
    (error: Error) => error.message,
  )
}

describe('a scheme without an outbound proxy', () => {
  test.each(['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY'])(
    'stays behind the gate next to %s',
    async (name) => {
      vi.stubEnv(name, proxy())
      expect(await faultOf(`http://localhost:${port}/a.git`, { ...ANYWHERE, ownPort: port })).toMatch(
        /own API/,
      )
      expect(asked).toEqual([])
    },
  )

  test.each(['NO_PROXY', 'no_proxy'])('stays behind the gate for a host of %s', async (name) => {
    vi.stubEnv(name, 'localhost')
    expect(await faultOf(`http://localhost:${port}/a.git`, { ...ANYWHERE, denyPrivate: true })).toMatch(
      /--deny-private-git/,
    )
    expect(asked).toEqual([])
  })
})

describe('an outbound proxy', () => {
  test.each([
    ['http_proxy', 'http://unknown.invalid/a.git', /^http:\/\/unknown\.invalid\/a\.git\/info\/refs/],
    ['ALL_PROXY', 'http://unknown.invalid/a.git', /^http:\/\/unknown\.invalid\/a\.git\/info\/refs/],
    ['HTTPS_PROXY', 'https://unknown.invalid/a.git', /^CONNECT unknown\.invalid:443$/],
    ['all_proxy', 'https://unknown.invalid/a.git', /^CONNECT unknown\.invalid:443$/],
  ])('for %s is asked for %s, whatever NO_PROXY says', async (name, url, question) => {
    vi.stubEnv(name, proxy()).stubEnv('NO_PROXY', '*')
    expect(await faultOf(url)).not.toBe('none')
    expect(asked).toContainEqual(expect.stringMatching(question))
  })

  test.each([
    ['http://169.254.169.254/a.git', /never connected to/],
    ['https://metadata.google.internal/a.git', /never connected to/],
    ['http://localhost/a.git', /--deny-private-git/],
    ['https://[::1]/a.git', /--deny-private-git/],
  ])('is not asked for %s', async (url, fault) => {
    vi.stubEnv('ALL_PROXY', proxy())
    expect(await faultOf(url, { ...ANYWHERE, denyPrivate: true })).toMatch(fault)
    expect(asked).toEqual([])
  })
})

describe('a request to an outbound HTTP proxy', () => {
  const redirectTo = (location: string) => (_: IncomingMessage, response: ServerResponse) =>
    void response.writeHead(302, { location }).end()

  test('is answered, including redirects on the same host', async () => {
    vi.stubEnv('http_proxy', proxy())
    const remotes = await startRemotes()
    try {
      new Repository(remotes, 'far').push({ a: 'x' })
      answer = (request, response) => {
        const { pathname, search } = new URL(request.url!)
        if (pathname.startsWith('/renamed'))
          return redirectTo(`http://host.invalid/far.git/info/refs${search}`)(request, response)
        request.url = pathname + search
        serveGit(request, response, remotes.directory)
      }
      expect(await faultOf('http://host.invalid/renamed.git')).toBe('none')
      expect(asked.at(-1)).toBe('http://host.invalid/far.git/git-upload-pack')
    } finally {
      await remotes.close()
    }
  })

  test.each([
    ['http://169.254.169.254/latest', ANYWHERE, /leads to another host, 169\.254\.169\.254/],
    ['http://other.invalid/a.git/info/refs', ANYWHERE, /leads to another host, other\.invalid/],
    ['https://other.invalid/a.git/info/refs', ANYWHERE, /leads to another host, other\.invalid/],
    ['http://host.invalid:1/a', ANYWHERE, /404|does not exist/],
  ])('does not reach %s if a host leads there', async (location, reach, fault) => {
    vi.stubEnv('ALL_PROXY', proxy())
    answer = (request, response) => {
      if (request.url!.startsWith('http://host.invalid/')) redirectTo(location)(request, response)
      else response.writeHead(404).end()
    }
    expect(await faultOf('http://host.invalid/a.git', reach)).toMatch(fault)
    expect(asked.filter((url) => !url.includes('host.invalid'))).toEqual([])
  })

  test('does not reach a port of this server if a host leads there', async () => {
    vi.stubEnv('http_proxy', proxy())
    answer = redirectTo('http://127.0.0.1:9/api')
    const reach = { denyPrivate: false, ownPort: 9 }
    expect(await faultOf(`http://127.0.0.1:${port}/a.git`, reach)).toMatch(/own API/)
    expect(asked).toHaveLength(1)
  })

  test('carries the credentials that the host has for the proxy', async () => {
    vi.stubEnv('http_proxy', proxy().replace('://', '://us%65r:p%40ss@'))
    await faultOf('http://host.invalid/a.git')
    expect(signedIn).toContain(`Basic ${Buffer.from('user:p@ss').toString('base64')}`)
    expect(signedIn.join()).not.toContain('git:')
  })

  test('reports that the proxy refuses them, or is missing', async () => {
    vi.stubEnv('http_proxy', `127.0.0.1:${port}`)
    answer = (_, response) => void response.writeHead(407).end()
    expect(await faultOf('http://host.invalid/a.git')).toMatch(
      /outbound proxy 127\.0\.0\.1:\d+ .* refused the credentials/,
    )
    vi.stubEnv('http_proxy', 'http://127.0.0.1:1')
    expect(await faultOf('http://host.invalid/a.git')).toMatch(
      /outbound proxy 127\.0\.0\.1:1 .* cannot be reached/,
    )
  })

  test('is passed on as it is over https', async () => {
    vi.stubEnv('https_proxy', proxy())
    const said: string[] = []
    secure = createNetServer((socket) => {
      // A handshake begins with a record of its own kind (RFC 8446 section 5.1).
      socket.once('data', (data) => {
        said.push(String(data))
        socket.end('no TLS')
      })
    })
    await once(secure.listen(0, '127.0.0.1'), 'listening')
    try {
      expect(await faultOf('https://host.invalid/a.git')).not.toBe('none')
      expect(asked).toContain('CONNECT host.invalid:443')
      expect(said[0]!.charCodeAt(0)).toBe(22)
    } finally {
      secure.close()
    }
  })
})

test('a redirect is not followed through a SOCKS proxy, where it is not seen', async () => {
  answer = (_, response) => void response.writeHead(302, { location: 'http://169.254.169.254/' }).end()
  // The gate speaks it too.
  const pass = await openPass(ANYWHERE)
  pass.allow('127.0.0.1')
  const { http_proxy } = pass.environment
  vi.stubEnv('all_proxy', http_proxy)
  expect(await faultOf(`http://127.0.0.1:${port}/a.git`)).toMatch(/leads to another address, .* SOCKS proxy/)
  expect(asked).toHaveLength(1)
  pass.close()
})
