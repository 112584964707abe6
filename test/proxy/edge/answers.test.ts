import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Edge, RouteTable } from '../../../proxy/protocol.ts'
import { Load, http1 } from '../load.ts'
import { HOST, targetOf } from '../stand.ts'
import { apply, ask, ask2, basic, hashOf, parse, serve, stand, tableFor } from './edge-stand.ts'

serve()

const folder = mkdtempSync(join(tmpdir(), 'deployer-edge-'))
beforeAll(() => {
  mkdirSync(join(folder, 'files'))
  writeFileSync(join(folder, 'files/index.html'), '<h1>home</h1>')
  writeFileSync(join(folder, 'rules.json'), '{"redirects":[],"headers":[]}')
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Serves a folder instead of the instances. */
async function publish(edge: Edge): Promise<void> {
  const table: RouteTable = tableFor({})
  table.targets.app = { ...targetOf([]), site: { folder, earlier: [] }, edge }
  await stand.client.applyTable(table)
}

/** The cookies that an answer sets. */
async function cookiesOf(path: string, ...fields: string[]): Promise<string[]> {
  const received = await stand
    .raw()
    .request(`GET ${path} HTTP/1.1`, `Host: ${HOST}`, ...fields, 'Connection: close')
    .end()
  return [...received.matchAll(/^Set-Cookie: (.*)\r$/gm)].map(([, cookie]) => cookie!)
}

test('fields of answers are set, replaced and removed by path, the last rule that matches first', async () => {
  await apply({
    headers: [
      { path: '/*', name: 'X-Frame-Options', value: 'DENY' },
      { path: '/*', name: 'x-early', value: 'early' },
      { path: '/late/*', name: 'X-Early', value: 'late' },
      { path: '/bare/*', name: 'x-frame-options', value: null },
      { path: '/*', name: 'Date', value: null },
      { path: '/*', name: 'X-Request-Id', value: 'mine' },
    ],
  })
  const { fields } = await ask('/')
  expect(fields).toMatchObject({ 'x-frame-options': 'DENY', 'x-early': 'early', 'x-request-id': 'mine' })
  expect(fields).not.toHaveProperty('date')
  expect(fields['set-cookie']).toBe('theirs=1')
  expect((await ask('/late/x')).fields['x-early']).toBe('late')
  expect((await ask('/bare/x')).fields).not.toHaveProperty('x-frame-options')
  expect((await ask2('/late/x')).fields).toMatchObject({ 'x-frame-options': 'DENY', 'x-early': 'late' })
})

test('a static site has all of it: lists, limits, passwords, redirects and fields', async () => {
  const headers = [
    { path: '/*', name: 'Cache-Control', value: 'no-cache' },
    { path: '/*', name: 'ETag', value: null },
  ]
  await publish({ headers })
  const { status, fields, body } = await ask('/')
  expect([status, fields['cache-control'], fields.etag, body]).toEqual([
    200,
    'no-cache',
    undefined,
    '<h1>home</h1>',
  ])
  const two = await ask2('/')
  expect([two.fields['cache-control'], two.body]).toEqual(['no-cache', '<h1>home</h1>'])
  expect((await ask('/', `If-Modified-Since: ${fields['last-modified']}`)).fields['cache-control']).toBe(
    'no-cache',
  )
  await publish({ redirects: [{ from: '/', to: '/elsewhere', status: 308 }] })
  expect((await ask('/')).status).toBe(308)
  await publish({ basic_auth: { users: [{ username: 'ada', hash: hashOf('site') }], except_paths: [] } })
  expect((await ask('/')).status).toBe(401)
  expect((await ask('/', basic('ada', 'site'))).body).toBe('<h1>home</h1>')
  await publish({ rate_limit: { requests: 1, period_seconds: 60, burst: 1 } })
  expect((await ask('/')).fields.ratelimit).toBe('"default";r=0;t=60')
  expect((await ask('/')).status).toBe(429)
  await publish({ maintenance: { retry_after_seconds: 60 } })
  expect((await ask('/')).status).toBe(503)
  await publish({ allow: [] })
  expect((await ask('/')).status).toBe(403)
})

test('a cookie leads a client to the same instance, which does not see it', async () => {
  await apply({ session_affinity: true })
  const [, own = ''] = await cookiesOf('/')
  expect(own).toMatch(/^deployer_affinity=[\w-]{16}; Path=\/; HttpOnly; SameSite=Lax$/)
  const pair = own.split(';')[0]!
  const first = await ask('/', `Cookie: a="1; b";  ${pair};c=3`)
  expect(first.asked.fields.cookie).toBe('a="1; b";c=3')
  for (let times = 0; times < 5; times++)
    expect((await ask('/', `Cookie: ${pair}`)).asked.instance).toBe(first.asked.instance)
  expect(await cookiesOf('/', `Cookie: ${pair}`)).toEqual(['theirs=1'])
  expect((await ask('/', `Cookie: ${pair}`)).asked.fields).not.toHaveProperty('cookie')
  expect((await ask('/', `Cookie: ${pair}; ${pair}; z=1`, 'X-After: 1')).asked.fields).toMatchObject({
    cookie: 'z=1',
    'x-after': '1',
  })
  const secure = await ask2('/')
  expect(secure.fields['set-cookie']![1]).toMatch(/; Secure$/)
  expect((await ask2('/', { cookie: [pair, 'k=v'] })).asked).toMatchObject({
    instance: first.asked.instance,
    fields: { cookie: 'k=v' },
  })
})

test('a drain and an unknown cookie win over affinity', async () => {
  await apply({ session_affinity: true })
  const { asked, fields } = await ask('/')
  const pair = /deployer_affinity=[\w-]+/.exec(String(fields['set-cookie']))![0]
  const table = tableFor({ session_affinity: true })
  for (const upstream of table.targets.app!.upstreams)
    upstream.draining = upstream.instance === asked.instance
  await stand.client.applyTable(table)
  const moved = await ask('/', `Cookie: ${pair}`)
  expect(moved.asked.instance).not.toBe(asked.instance)
  expect(String(moved.fields['set-cookie'])).toContain('deployer_affinity=')
  expect((await ask('/', 'Cookie: deployer_affinity=nonsense')).status).toBe(200)
})

test('a body that is too large gets 413 before it is read, however it is sent', async () => {
  await apply({ max_body_bytes: 100_000 })
  const post = (...lines: string[]) => stand.raw().send('POST / HTTP/1.1', `Host: ${HOST}`, ...lines)
  expect(parse(await post('Content-Length: 100001', 'Connection: close', '', '').end()).status).toBe(413)
  const chunk = `7d0\r\n${'x'.repeat(2_000)}\r\n`
  const chunked = ['Transfer-Encoding: chunked', 'Connection: close', '']
  const exact = await post(...chunked, `${chunk.repeat(50)}0`, '', '').end()
  expect(parse(exact).asked.body).toBe(100_000)
  const endless = post(...chunked, chunk.repeat(51))
  expect(parse(await endless.end()).status).toBe(413)
  expect((await ask2('/', {}, Buffer.alloc(100_000))).asked.body).toBe(100_000)
  expect((await ask2('/', {}, Buffer.alloc(100_001))).status).toBe(413)
  expect((await ask2('/', { 'content-length': '100001' }, Buffer.alloc(100_001))).status).toBe(413)
})

test('a service has its own time for an answer', async () => {
  await apply({ upstream_timeout_ms: 700 })
  expect((await ask('/slow')).status).toBe(504)
  expect((await ask('/')).status).toBe(200)
})

test('settings change under load without a dropped request', async () => {
  const load = new Load(
    http1(() => stand.port),
    200,
  )
  const edges: Edge[] = [
    { headers: [{ path: '/*', name: 'X-A', value: 'b' }] },
    { session_affinity: true, allow: ['127.0.0.1'] },
    { rate_limit: { requests: 1_000_000, period_seconds: 1, burst: 1_000_000 } },
    { basic_auth: { users: [{ username: 'a', hash: hashOf('b') }], except_paths: ['/*'] } },
    {},
  ]
  for (let round = 0; round < 20; round++) {
    await apply(edges[round % edges.length]!)
    expect((await ask('/now')).status).toBe(200)
  }
  const { failures } = await load.stop()
  expect(failures).toEqual([])
})

test.each<[string, unknown, string]>([
  ['allow', ['10.0.0.0/33'], 'must be a CIDR or an address'],
  ['allow', ['fe80::1%eth0'], 'must be a CIDR or an address'],
  ['redirects', [{ from: 'x', to: '/', status: 308 }], 'from: must be a path'],
  ['redirects', [{ from: '/%', to: '/', status: 308 }], 'from: must be a path'],
  ['redirects', [{ from: '/x', to: '//evil.example', status: 308 }], 'to: must be a path or an absolute URL'],
  ['redirects', [{ from: '/x', to: '/', status: 200 }], 'must be the status of a redirect'],
  ['maintenance', { retry_after_seconds: -1 }, 'must be an integer'],
  ['rate_limit', { requests: 0, period_seconds: 1, burst: 1 }, 'must be an integer'],
  ['basic_auth', { users: [{ username: 'a', hash: 'plain' }], except_paths: [] }, 'must be a scrypt hash'],
  ['basic_auth', { users: [{ username: 'a:b', hash: hashOf('x') }], except_paths: [] }, 'without a colon'],
  ['headers', [{ path: '/*', name: 'X-A', value: 'b\r\nX-Evil: 1' }], 'must be null or printable ASCII'],
  ['headers', [{ path: '/*', name: 'X-A', value: 'b\u010aX-Evil: 1' }], 'must be null or printable ASCII'],
  ['headers', [{ path: '/*', name: 'X A', value: 'b' }], 'must name a field that may change'],
  ['headers', [{ path: '/*', name: 'Content-Length', value: '0' }], 'must name a field that may change'],
  ['session_affinity', 1, 'must be boolean'],
  ['upstream_timeout_ms', 0, 'must be an integer'],
  ['max_body_bytes', '1', 'must be an integer'],
])('a table with %s %j is refused', async (field, value, fault) => {
  await expect(apply({ [field]: value })).rejects.toThrow(fault)
})
