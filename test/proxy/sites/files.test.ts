import { linkSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { statusOf } from '../stand.ts'
import { ask, askRaw, H, publish, replyOf, root, serve, stand, tableWith } from './site-stand.ts'

test('a file is answered with its type, validators and the security field, and with the id of the request', async () => {
  await serve(publish({ 'a/page.css': 'p{}' }))
  const { status, fields, body } = await ask('/a/page.css?v=1', 'X-Request-Id: me-1')
  expect({ status, body }).toEqual({ status: 200, body: 'p{}' })
  expect(fields).toMatchObject({
    'content-type': 'text/css; charset=utf-8',
    'content-length': '3',
    'x-content-type-options': 'nosniff',
    'cache-control': 'public, max-age=0, must-revalidate',
    'accept-ranges': 'bytes',
    etag: expect.stringMatching(/^"[\w-]{16}"$/) as string,
    'last-modified': expect.stringMatching(/ GMT$/) as string,
    date: expect.stringMatching(/ GMT$/) as string,
    'x-request-id': 'me-1',
    connection: 'close',
  })
})

test('an index is served at its folder, and a page without its extension', async () => {
  await serve(
    publish({ 'index.html': 'home', 'docs/index.html': 'docs', 'about.html': 'about', 'empty/x.txt': '' }),
  )
  expect(await ask('/')).toMatchObject({ status: 200, body: 'home' })
  expect(await ask('/docs/')).toMatchObject({ status: 200, body: 'docs' })
  expect(await ask('/about')).toMatchObject({ status: 200, body: 'about' })
  expect(await ask('/about.html')).toMatchObject({ status: 200, body: 'about' })
  expect(await ask('/docs?a=b')).toMatchObject({ status: 301, fields: { location: '/docs/?a=b' } })
  expect(await ask('/empty')).toMatchObject({ status: 404 })
  expect(await ask('/empty/')).toMatchObject({ status: 404 })
  expect(await ask('/empty/x.txt')).toMatchObject({ status: 200, body: '' })
  expect(await ask('/about/?a=b')).toMatchObject({ status: 301, fields: { location: '/about?a=b' } })
})

test('a page for all paths without a file comes with 200, before the one for missing files', async () => {
  await serve(publish({ 'index.html': 'home', '200.html': 'app', '404.html': 'nobody here' }))
  expect(await ask('/anything/else')).toMatchObject({ status: 200, body: 'app' })
  expect(await ask('/.env')).toMatchObject({ status: 404, body: 'nobody here' })
})

test('the files that phones read from a site are sent as JSON', async () => {
  await serve(publish({ '.well-known/apple-app-site-association': '{}' }))
  expect(await ask('/.well-known/apple-app-site-association')).toMatchObject({
    status: 200,
    fields: { 'content-type': 'application/json' },
  })
})

test('HEAD has the fields of GET and no body', async () => {
  await serve(publish({ 'a.txt': 'hello', 'large.bin': Buffer.alloc(200_000) }))
  for (const [path, length] of [
    ['/a.txt', '5'],
    ['/large.bin', '200000'],
  ] as const) {
    const reply = replyOf(await askRaw(`HEAD ${path} HTTP/1.1`))
    expect(reply).toMatchObject({ status: 200, body: '', fields: { 'content-length': length } })
  }
})

test.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE', 'PROPFIND'])(
  '%s is refused with 405 and the allowed methods',
  async (method) => {
    await serve(publish({ 'index.html': 'home' }))
    const client = stand.raw().request(`${method} / HTTP/1.1`, H, 'Content-Length: 3').send('abc')
    await client.until('</html>')
    expect(replyOf(client.received)).toMatchObject({ status: 405, fields: { allow: 'GET, HEAD' } })
    client.request('GET / HTTP/1.1', H, 'Connection: close')
    expect(await client.end()).toMatch(/home$/)
  },
)

test('GET with a body is refused and its connection ends', async () => {
  await serve(publish({ 'index.html': 'home' }))
  const received = await stand.raw().request('GET / HTTP/1.1', H, 'Content-Length: 3').send('abc').end()
  expect(replyOf(received)).toMatchObject({ status: 400, fields: { connection: 'close' } })
})

test.each([
  '/../secret.txt',
  '/%2e%2e/secret.txt',
  '/a/%2e%2e/%2e%2e/secret.txt',
  '/..%2fsecret.txt',
  '/..%5csecret.txt',
  '/..\\secret.txt',
  '/%252e%252e/secret.txt',
  '/a.txt%00',
  '/%c0%ae%c0%ae/secret.txt',
  '/files/../../secret.txt',
  '//secret.txt',
  '/link.txt',
  '/linked/secret.txt',
  '/linked',
  '/%zz',
])('%s leads to nothing outside the folder', async (path) => {
  const folder = publish({ 'a.txt': 'a', 'a/b.txt': 'b' })
  writeFileSync(join(folder, 'secret.txt'), 'secret')
  writeFileSync(join(root, 'secret.txt'), 'secret')
  symlinkSync('../secret.txt', join(folder, 'files/link.txt'))
  symlinkSync('..', join(folder, 'files/linked'))
  await serve(folder)
  const received = await askRaw(`GET ${path} HTTP/1.1`)
  expect([400, 404]).toContain(statusOf(received))
  expect(received).not.toMatch(/\nsecret/)
})

test('what a path names is in the folder itself', async () => {
  const folder = publish({ 'ünïcode name.txt': 'u', '100%.txt': 'p' })
  linkSync(join(folder, 'files/100%.txt'), join(folder, 'files/same.txt'))
  await serve(folder)
  expect(await ask('/%C3%BCn%C3%AFcode%20name.txt')).toMatchObject({ status: 200, body: 'u' })
  expect(await ask(`/${Buffer.from('ünïcode%20name.txt').toString('latin1')}`)).toMatchObject({ body: 'u' })
  expect(await ask('/100%25.txt')).toMatchObject({ status: 200, body: 'p' })
  expect(await ask('/same.txt')).toMatchObject({ status: 200, body: 'p' })
  expect(await ask(`/${'a'.repeat(300)}`)).toMatchObject({ status: 404 })
  expect(await ask('/same.txt/')).toMatchObject({ status: 404 })
  expect(await ask('/same.txt/x')).toMatchObject({ status: 404 })
})

test('dotfiles and rule files do not exist, whatever the rules say; .well-known does', async () => {
  const files = {
    'index.html': 'home',
    '.env': 'secret',
    '.git/config': 'secret',
    'a/.b/c': 'secret',
    _redirects: '/secret /x',
    _headers: '/secret',
    '.well-known/security.txt': 'contact',
  }
  await serve(publish(files, { redirects: [{ from: '/*', to: '/index.html', status: 200 }] }))
  for (const path of ['/.env', '/%2eenv', '/.git/config', '/a/.b/c', '/_redirects', '/_headers'])
    expect(await ask(path)).toMatchObject({
      status: 404,
      body: expect.not.stringContaining('secret') as string,
    })
  expect(await ask('/.well-known/security.txt')).toMatchObject({ status: 200, body: 'contact' })
})

test('a missing file is answered with 404.html, or with a page of the relay', async () => {
  await serve(publish({ 'index.html': 'home' }))
  expect(await ask('/nothing')).toMatchObject({
    status: 404,
    body: expect.stringContaining('Page not found') as string,
  })
  expect((await ask('/nothing', 'Accept: application/json')).body).toMatch(/"code":"not_found"/)
  await serve(publish({ '404.html': 'nobody here' }))
  const reply = await ask('/nothing', 'Range: bytes=0-1', 'If-None-Match: *')
  expect(reply).toMatchObject({
    status: 404,
    body: 'nobody here',
    fields: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'public, max-age=0, must-revalidate',
    },
  })
  expect(reply.fields).not.toHaveProperty('etag')
})

test('rules redirect before files are checked, and rewrite only paths without a file', async () => {
  const files = { 'index.html': 'app', 'old.html': 'still here', 'real.txt': 'real', 'gone.html': 'gone' }
  await serve(
    publish(files, {
      redirects: [
        { from: '/old.html', to: '/new', status: 301 },
        { from: '/blog/:year/*', to: 'https://example.com/:year/:splat', status: 302 },
        { from: '/temporary', to: '/there?own=1', status: 307 },
        { from: '/closed/*', to: '/gone.html', status: 404 },
        { from: '/*', to: '/index.html', status: 200 },
      ],
    }),
  )
  expect(await ask('/old.html?a=b')).toMatchObject({ status: 301, fields: { location: '/new?a=b' } })
  expect(await ask('/blog/2026/a%20b/c')).toMatchObject({
    status: 302,
    fields: { location: 'https://example.com/2026/a%20b/c', 'content-length': '0' },
  })
  expect(await ask('/temporary?a=b')).toMatchObject({ status: 307, fields: { location: '/there?own=1' } })
  expect(await ask('/closed/x')).toMatchObject({ status: 404, body: 'gone' })
  expect(await ask('/real.txt')).toMatchObject({ status: 200, body: 'real' })
  expect(await ask('/any//route')).toMatchObject({ status: 200, body: 'app' })
  expect(await ask('/any/route')).toMatchObject({
    status: 200,
    body: 'app',
    fields: { 'content-type': 'text/html; charset=utf-8' },
  })
})

test('fields of the rules are added or replace, and a cached 404 is never long', async () => {
  await serve(
    publish(
      { 'index.html': 'home', 'a.js': 'a', 'a.js.br': 'A', '404.html': 'none' },
      {
        headers: [
          {
            path: '/*',
            fields: [
              ['X-Frame-Options', 'DENY'],
              ['Cache-Control', 'public, max-age=60'],
            ],
          },
          {
            path: '/a.js',
            fields: [
              ['Content-Type', 'text/plain'],
              ['Vary', 'Origin'],
              ['Set-Cookie', 'a=1'],
              ['Set-Cookie', 'b=2'],
            ],
          },
        ],
      },
    ),
  )
  expect((await ask('/')).fields).toMatchObject({
    'x-frame-options': 'DENY',
    'cache-control': 'public, max-age=60',
  })
  const { fields } = await ask('/a.js')
  expect(fields).toMatchObject({ 'content-type': 'text/plain', 'set-cookie': 'a=1, b=2' })
  expect(fields.vary!.split(', ').toSorted()).toEqual(['Accept-Encoding', 'Origin'])
  const missing = await ask('/missing')
  expect(missing).toMatchObject({ status: 404, fields: { 'x-frame-options': 'DENY' } })
  expect(missing.fields['cache-control']).toBe('public, max-age=0, must-revalidate')
})

test.each([
  ['no JSON', 'nonsense'],
  ['another shape', '{"redirects":{}}'],
  [
    'a field that would break the head',
    '{"redirects":[],"headers":[{"path":"/","fields":[["X","a\\r\\nY: b"]]}]}',
  ],
  ['a field that would frame', '{"redirects":[],"headers":[{"path":"/","fields":[["Content-Length","9"]]}]}'],
  ['a bad escape', '{"redirects":[{"from":"/%zz","to":"/","status":301}],"headers":[]}'],
])('rules of %s are reported in the log, and the site is served without them', async (_what, rules) => {
  const folder = publish({ 'index.html': 'home' }, rules)
  await serve(folder)
  expect(await ask('/')).toMatchObject({ status: 200, body: 'home' })
  expect(stand.log).toContain(join(folder, 'rules.json'))
})

test('states other than serving answer with their page', async () => {
  const folder = publish({ 'index.html': 'home' })
  await stand.client.applyTable(tableWith({ folder, earlier: [] }, 'suspended'))
  expect(await ask('/')).toMatchObject({
    status: 503,
    body: expect.stringContaining('This service is suspended') as string,
  })
})

test('answers are counted by status, aborted ones too', async () => {
  await serve(publish({ 'a.txt': 'a' }))
  const before = (await stand.client.counts()).targets['srv-app']!
  await ask('/a.txt')
  await ask('/a.txt', 'If-None-Match: *')
  await ask('/none')
  await waitForCounts(before, { status_2xx: 1, status_3xx: 1, status_4xx: 1 })
})

type StatusCounts = Partial<Record<'status_2xx' | 'status_3xx' | 'status_4xx', number>>

async function waitForCounts(before: StatusCounts, more: StatusCounts): Promise<void> {
  await expect
    .poll(
      async () => {
        const now = (await stand.client.counts()).targets['srv-app']!
        return Object.fromEntries(
          (Object.keys(more) as (keyof StatusCounts)[]).map((key) => [key, now[key] - (before[key] ?? 0)]),
        )
      },
      { timeout: 8_000 },
    )
    .toEqual(more)
}
