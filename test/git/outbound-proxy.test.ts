import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { withRemote } from '../../daemon/sources/git-remote.ts'
import { listRefs } from '../../daemon/sources/refs.ts'
import type { Reach } from '#server/reach/addresses.ts'
import { useBuiltReader } from '../support/reader.ts'
import { ANYWHERE } from './remotes.ts'

const VARIABLES = ['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy']
let server: Server
let port: number
const asked: string[] = []

beforeAll(useBuiltReader)
beforeAll(async () => {
  // A proxy is asked for whole addresses, a host for paths (RFC 9112 section 3.2).
  server = createServer((request, response) => {
    asked.push(request.url!)
    response.writeHead(404).end()
  })
  server.on('connect', (request, socket) => {
    asked.push(`CONNECT ${request.url}`)
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  port = (server.address() as AddressInfo).port
})
afterAll(() => void server.close())
beforeEach(() => {
  asked.length = 0
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
  test.each(['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY'])('stays behind the gate beside %s', async (name) => {
    vi.stubEnv(name, proxy())
    expect(await faultOf(`http://localhost:${port}/a.git`, { ...ANYWHERE, ownPort: port })).toMatch(/own API/)
    expect(asked).toEqual([])
  })

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
  ])('of %s is asked for %s, whatever NO_PROXY says', async (name, url, question) => {
    vi.stubEnv(name, proxy()).stubEnv('NO_PROXY', '*')
    expect(await faultOf(url)).not.toBe('none')
    expect(asked).toContainEqual(expect.stringMatching(question))
  })

  test.each([
    ['http://169.254.169.254/a.git', /never asked/],
    ['https://metadata.google.internal/a.git', /never asked/],
    ['http://localhost/a.git', /--deny-private-git/],
    ['https://[::1]/a.git', /--deny-private-git/],
  ])('is not asked for %s', async (url, fault) => {
    vi.stubEnv('ALL_PROXY', proxy())
    expect(await faultOf(url, { ...ANYWHERE, denyPrivate: true })).toMatch(fault)
    expect(asked).toEqual([])
  })
})
