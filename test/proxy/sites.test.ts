import { createHash, randomBytes } from 'node:crypto'
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { get } from 'node:http'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RouteTable, Site, SiteRules } from '../../proxy/protocol.ts'
import { HOST, ProxyStand, statusOf, tableOf, targetOf, waitFor } from './stand.ts'

const H = `Host: ${HOST}`
const MIB = 1024 * 1024

const root = mkdtempSync(join(tmpdir(), 'deployer-sites-'))
let stand: ProxyStand
let published = 0

beforeAll(async () => {
  stand = await ProxyStand.start(tableOf([]))
})
afterAll(async () => {
  await stand.stop()
  rmSync(root, { recursive: true, force: true })
})

/** Publishes files and rules as a new folder; answers the folder. */
function publish(files: Record<string, string | Buffer>, rules?: Partial<SiteRules> | string): string {
  const folder = join(root, `site-${++published}`)
  for (const [name, content] of Object.entries({ ...files })) {
    mkdirSync(dirname(join(folder, 'files', name)), { recursive: true })
    writeFileSync(join(folder, 'files', name), content)
  }
  const text = typeof rules === 'string' ? rules : JSON.stringify({ redirects: [], headers: [], ...rules })
  if (rules !== undefined) writeFileSync(join(folder, 'rules.json'), text)
  return folder
}

async function serve(folder: string, earlier: Site['earlier'] = []): Promise<void> {
  await stand.client.applyTable(tableWith({ folder, earlier }))
}

function tableWith(site: Site, state: RouteTable['targets'][string]['state'] = 'serving'): RouteTable {
  return tableOf([], { targets: { app: { ...targetOf([], state), site } } })
}

/** One request on a connection of its own: the head, its fields by lower case name, and the body. */
async function ask(path: string, ...fields: string[]): Promise<Reply> {
  return replyOf(await askRaw(`GET ${path} HTTP/1.1`, ...fields))
}

function askRaw(line: string, ...fields: string[]): Promise<string> {
  return stand
    .raw()
    .request(line, H, ...fields, 'Connection: close')
    .end()
}

interface Reply {
  status: number
  fields: Record<string, string>
  body: string
}

function replyOf(received: string): Reply {
  const split = received.indexOf('\r\n\r\n')
  const lines = received.slice(0, split).split('\r\n').slice(1)
  const fields: Record<string, string> = {}
  for (const line of lines) {
    const colon = line.indexOf(': ')
    const name = line.slice(0, colon).toLowerCase()
    fields[name] = name in fields ? `${fields[name]}, ${line.slice(colon + 2)}` : line.slice(colon + 2)
  }
  return { status: statusOf(received), fields, body: received.slice(split + 4) }
}

/** Descriptors of the data plane's workers that point below the published folders. */
async function openFiles(): Promise<string[]> {
  const { workers } = await stand.processes()
  return workers.flatMap((pid) =>
    readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
      try {
        const target = readlinkSync(`/proc/${pid}/fd/${name}`)
        return target.startsWith(root) ? [target] : []
      } catch {
        return []
      }
    }),
  )
}

async function untilAllClosed(): Promise<void> {
  let open = await openFiles()
  await waitFor(
    () => {
      if (open.length > 0) void openFiles().then((now) => (open = now))
      return open.length === 0
    },
    () => `still open: ${open.join(', ')}`,
  )
}

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
  expect(await ask('/about/')).toMatchObject({ status: 404 })
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
  '%s is refused with 405 and the methods there are',
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

test('dotfiles and rule files are not there, whatever the rules say; .well-known is', async () => {
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

test('what is not there is answered with 404.html, or with a page of the relay', async () => {
  await serve(publish({ 'index.html': 'home' }))
  expect(await ask('/nothing')).toMatchObject({
    status: 404,
    body: expect.stringContaining('There is no such page') as string,
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

test('rules redirect before files are looked at, and rewrite only what is not there', async () => {
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
])('rules of %s are told in the log, and the site is served without', async (_what, rules) => {
  const folder = publish({ 'index.html': 'home' }, rules)
  await serve(folder)
  expect(await ask('/')).toMatchObject({ status: 200, body: 'home' })
  expect(stand.log).toContain(join(folder, 'rules.json'))
})

test('a file that did not change is 304 by its tag or its date, the tag first', async () => {
  await serve(publish({ 'a.js': 'a', 'large.bin': Buffer.alloc(100_000, 'x') }))
  for (const path of ['/a.js', '/large.bin']) {
    const { etag, 'last-modified': date } = (await ask(path)).fields as {
      etag: string
      'last-modified': string
    }
    const fresh = await ask(path, `If-None-Match: W/"other", ${etag}`)
    expect(fresh).toMatchObject({ status: 304, body: '', fields: { etag } })
    expect(fresh.fields).not.toHaveProperty('content-length')
    expect(await ask(path, `If-Modified-Since: ${date}`)).toMatchObject({ status: 304 })
    expect(await ask(path, 'If-None-Match: "other"', `If-Modified-Since: ${date}`)).toMatchObject({
      status: 200,
    })
    expect(await ask(path, 'If-Match: "other"')).toMatchObject({ status: 412, body: '' })
  }
})

test('the tag of a small file stays with its content over deploys; no tag stays when the content changes', async () => {
  const tags = async () => [
    (await ask('/same.js')).fields.etag,
    (await ask('/new.js')).fields.etag,
    (await ask('/large.bin')).fields.etag,
  ]
  await serve(publish({ 'same.js': 'same', 'new.js': '1', 'large.bin': Buffer.alloc(100_000, '1') }))
  const before = await tags()
  await serve(publish({ 'same.js': 'same', 'new.js': '2', 'large.bin': Buffer.alloc(100_000, '2') }))
  const after = await tags()
  expect(after[0]).toBe(before[0])
  expect(after[1]).not.toBe(before[1])
  expect(after[2]).not.toBe(before[2])
})

test('a file that is older than its deploy is of the time of the deploy', async () => {
  const folder = publish({ 'a.js': 'a' })
  utimesSync(join(folder, 'files/a.js'), 1_000_000_000, 1_000_000_000)
  await serve(folder)
  const modified = Date.parse((await ask('/a.js')).fields['last-modified']!)
  expect(modified).toBe(Math.floor(statSync(folder).mtimeMs / 1000) * 1000)
})

test('one range is answered with its bytes, several with all, one beyond the end with 416', async () => {
  const large = randomBytes(300_000)
  await serve(publish({ 'digits.txt': '0123456789', 'large.bin': large }))
  expect(await ask('/digits.txt', 'Range: bytes=2-4')).toMatchObject({
    status: 206,
    body: '234',
    fields: { 'content-range': 'bytes 2-4/10', 'content-length': '3' },
  })
  expect(await ask('/digits.txt', 'Range: bytes=-2')).toMatchObject({ status: 206, body: '89' })
  expect(await ask('/digits.txt', 'Range: bytes=0-1,4-5')).toMatchObject({ status: 200, body: '0123456789' })
  expect(await ask('/digits.txt', 'Range: bytes=10-')).toMatchObject({
    status: 416,
    body: '',
    fields: { 'content-range': 'bytes */10' },
  })
  const { etag } = (await ask('/digits.txt')).fields
  expect(await ask('/digits.txt', 'Range: bytes=0-0', `If-Range: ${etag}`)).toMatchObject({ status: 206 })
  expect(await ask('/digits.txt', 'Range: bytes=0-0', 'If-Range: "x"')).toMatchObject({ status: 200 })
  expect(replyOf(await askRaw('HEAD /digits.txt HTTP/1.1', 'Range: bytes=0-0'))).toMatchObject({
    status: 200,
  })
  // From the disk, then out of memory, where it lies in pieces.
  for (let round = 0; round < 3; round++) {
    const { status, body } = await ask('/large.bin', 'Range: bytes=130000-270000')
    expect(status).toBe(206)
    expect(Buffer.from(body, 'latin1').equals(large.subarray(130_000, 270_001))).toBe(true)
    await sleep(60)
  }
})

test('a file that lies encoded beside the other is sent to who accepts it', async () => {
  await serve(
    publish({
      'a.js': 'plain',
      'a.js.br': 'brotli',
      'a.js.gz': 'gzipped',
      'a.js.zst': 'zstandard',
      'b.js': 'b',
    }),
  )
  const of = async (accept: string) => {
    const { body, fields } = await ask('/a.js', `Accept-Encoding: ${accept}`)
    expect(fields).toMatchObject({
      vary: 'Accept-Encoding',
      'content-type': 'text/javascript; charset=utf-8',
    })
    return [body, fields['content-encoding'], fields.etag]
  }
  const plain = await of('identity')
  const brotli = await of('gzip, br')
  expect(plain.slice(0, 2)).toEqual(['plain', undefined])
  expect(brotli.slice(0, 2)).toEqual(['brotli', 'br'])
  expect(brotli[2]).not.toBe(plain[2])
  expect((await of('gzip, br;q=0.2')).slice(0, 2)).toEqual(['gzipped', 'gzip'])
  expect((await of('zstd, br;q=0')).slice(0, 2)).toEqual(['zstandard', 'zstd'])
  expect((await ask('/a.js')).body).toBe('plain')
  expect((await ask('/b.js', 'Accept-Encoding: br')).fields).not.toHaveProperty('vary')
  expect(await ask('/a.js', 'Accept-Encoding: br', `If-None-Match: ${brotli[2]}`)).toMatchObject({
    status: 304,
  })
  expect(await ask('/a.js', 'Accept-Encoding: gzip', `If-None-Match: ${brotli[2]}`)).toMatchObject({
    status: 200,
  })
})

test('content-hashed names may be kept for ever, and those of a replaced folder are still found in time', async () => {
  const headers = [{ path: '/*', fields: [['X-Site', 'new'] as [string, string]] }]
  const rewrite = [{ from: '/*', to: '/index.html', status: 200 as const }]
  const hour = 3_600_000
  const old = publish({
    'index.html': 'old',
    'assets/index-B1cD3fGh.js': 'old asset',
    'plain.js': 'old plain',
  })
  const older = publish({ 'assets/index-D4eF5gHi.js': 'older asset', 'assets/index-B1cD3fGh.js': 'not this' })
  const expired = publish({ 'assets/index-J6kL7mNo.js': 'expired asset' })
  const current = publish(
    { 'index.html': 'new', 'assets/index-P8qR9sTu.js': 'new asset' },
    { redirects: rewrite, headers },
  )
  await serve(current, [
    { folder: old, until: Date.now() + hour },
    { folder: older, until: Date.now() + hour },
    { folder: expired, until: Date.now() - 1 },
  ])
  const immutable = 'public, max-age=31536000, immutable'
  expect(await ask('/assets/index-P8qR9sTu.js')).toMatchObject({
    body: 'new asset',
    fields: { 'cache-control': immutable, 'x-site': 'new' },
  })
  const kept = await ask('/assets/index-B1cD3fGh.js')
  expect(kept).toMatchObject({ status: 200, body: 'old asset', fields: { 'cache-control': immutable } })
  expect(kept.fields).not.toHaveProperty('x-site')
  expect(await ask('/assets/index-D4eF5gHi.js')).toMatchObject({ body: 'older asset' })
  expect(await ask('/assets/index-J6kL7mNo.js')).toMatchObject({ body: 'new' })
  expect(await ask('/plain.js')).toMatchObject({ body: 'new' })
})

test('an asset of a replaced folder is gone when its time has come', async () => {
  const old = publish({ 'index-B1cD3fGh.js': 'old asset' })
  await serve(publish({ 'index.html': 'new' }), [{ folder: old, until: Date.now() + 1_500 }])
  expect(await ask('/index-B1cD3fGh.js')).toMatchObject({ status: 200 })
  const deadline = Date.now() + 10_000
  while ((await ask('/index-B1cD3fGh.js')).status === 200 && Date.now() < deadline) await sleep(50)
  expect(await ask('/index-B1cD3fGh.js')).toMatchObject({ status: 404 })
})

test('a new table switches every file at once, also on connections that are open', async () => {
  await serve(publish({ 'index.html': 'one', 'only-old.txt': 'x' }))
  const client = stand.raw().request('GET / HTTP/1.1', H)
  await client.until('one')
  await serve(publish({ 'index.html': 'two' }))
  client.request('GET / HTTP/1.1', H)
  await client.until('two')
  client.request('GET /only-old.txt HTTP/1.1', H, 'Connection: close')
  expect(await client.end()).toMatch(/two[^]*HTTP\/1\.1 404 /)
})

test('a download that began before a new table ends with the bytes it began with', async () => {
  const large = randomBytes(8 * MIB)
  const old = publish({ 'large.bin': large })
  await serve(old)
  const client = slowReader('/large.bin')
  await waitFor(
    () => client.bytes > 0,
    () => 'waiting for the first bytes',
  )
  await serve(publish({ 'large.bin': 'new' }))
  rmSync(old, { recursive: true })
  expect(await client.rest()).toBe(digest(large))
  expect((await ask('/large.bin')).body).toBe('new')
})

test('states other than serving answer with their page', async () => {
  const folder = publish({ 'index.html': 'home' })
  await stand.client.applyTable(tableWith({ folder, earlier: [] }, 'suspended'))
  expect(await ask('/')).toMatchObject({
    status: 503,
    body: expect.stringContaining('This service is suspended') as string,
  })
})

test('pipelined requests for files in memory, on the disk and nowhere are answered in order', async () => {
  const large = 'L'.repeat(300_000)
  await serve(publish({ 'small.txt': 'small', 'other.txt': 'other', 'large.txt': large, 'l2.txt': large }))
  await ask('/small.txt')
  const paths = ['/small.txt', '/large.txt', '/none', '/other.txt', '/small.txt', '/l2.txt', '/small.txt']
  const client = stand.raw()
  client.send(paths.map((path) => `GET ${path} HTTP/1.1\r\n${H}\r\n\r\n`).join(''))
  client.socket.end()
  const received = await client.end()
  const bodies = [...received.matchAll(/\r\n\r\n(small|other|L{300000}|<!doctype)/g)].map(([, body]) =>
    body!.slice(0, 5),
  )
  expect(bodies).toEqual(['small', 'LLLLL', '<!doc', 'other', 'small', 'LLLLL', 'small'])
})

test('requests that came with FIN are all answered to a slow reader', async () => {
  const page = 'p'.repeat(60_000)
  await serve(publish({ 'page.txt': page }))
  await ask('/page.txt')
  const socket = connect({ port: stand.port, host: '127.0.0.1', allowHalfOpen: true })
  let bytes = 0
  const ended = new Promise<void>((resolve) => socket.on('close', () => resolve()))
  socket.on('data', (data) => (bytes += data.length))
  socket.pause()
  socket.write(`GET /page.txt HTTP/1.1\r\n${H}\r\n\r\n`.repeat(300))
  socket.end()
  await sleep(300)
  socket.resume()
  await ended
  expect(bytes).toBeGreaterThan(300 * page.length)
})

test('a kept-alive connection and HTTP/1.0 get the same file', async () => {
  await serve(publish({ 'a.txt': 'hello' }))
  const client = stand.raw()
  for (let round = 1; round <= 3; round++) {
    client.request('GET /a.txt HTTP/1.1', H)
    await client.until(new RegExp(`(?:hello[^]*){${round}}`))
  }
  client.close()
  const old = await stand.raw().request('GET /a.txt HTTP/1.0', H).end()
  expect(replyOf(old)).toMatchObject({ status: 200, body: 'hello', fields: { connection: 'close' } })
})

test('large files arrive whole on many connections at once, however slowly they are read', async () => {
  const files = {
    'one.bin': randomBytes(6 * MIB + 123),
    'two.bin': randomBytes(900_000),
    'three.bin': randomBytes(128 * 1024),
    'four.bin': randomBytes(70_000),
  }
  await serve(publish(files))
  const names = Object.keys(files) as (keyof typeof files)[]
  for (let round = 0; round < 3; round++) {
    const readers = Array.from({ length: 24 }, (_, at) => names[at % names.length]!)
    await Promise.all(
      readers.map(async (name, at) => {
        const got = at % 3 === 0 ? await slowReader(`/${name}`).rest() : await fetchDigest(`/${name}`)
        expect(got).toBe(digest(files[name]))
      }),
    )
  }
  await untilAllClosed()
})

test('a reader that takes nothing does not make the data plane hold the file in memory', async () => {
  const folder = publish({ 'huge.bin': Buffer.alloc(64 * MIB) })
  await serve(folder)
  const before = await memory()
  const clients = Array.from({ length: 20 }, () => stalled('/huge.bin'))
  await Promise.all(clients.map(({ begun }) => begun))
  await sleep(500)
  // Twenty buffers, and what node needs for twenty connections: far from 20 times 64 MiB.
  expect((await memory()) - before).toBeLessThan(60 * MIB)
  expect(new Set(await openFiles()).size).toBe(1)
  expect(await openFiles()).toHaveLength(1)
  for (const { socket } of clients) socket.destroy()
  await untilAllClosed()
})

test('2,000 aborted downloads leave no file open', async () => {
  const large = Buffer.alloc(4 * MIB, 'x')
  const folder = publish({ 'a.bin': large, 'b.bin': large, 'c.bin': large })
  await serve(folder)
  for (let batch = 0; batch < 20; batch++) {
    const clients = Array.from({ length: 100 }, (_, at) => stalled(`/${'abc'[at % 3]}.bin`))
    await Promise.all(
      clients.map(async ({ socket, begun }, at) => {
        // Some go before the answer, some in the middle, some with a reset.
        if (at % 4 !== 0) await begun
        if (at % 4 === 1) socket.resetAndDestroy()
        else socket.destroy()
      }),
    )
  }
  await untilAllClosed()
  expect(await ask('/a.bin', 'Range: bytes=0-2')).toMatchObject({ status: 206, body: 'xxx' })
})

test('a file that is gone from the disk is told with 500, one that is cut under its reader with a reset', async () => {
  const folder = publish({
    'gone.bin': Buffer.alloc(200_000),
    'cut.bin': Buffer.alloc(32 * MIB),
    'a.txt': 'a',
  })
  await serve(folder)
  await ask('/gone.bin')
  rmSync(join(folder, 'files/gone.bin'))
  expect(await ask('/gone.bin')).toMatchObject({ status: 500 })
  expect(stand.log).toContain('a file of a site cannot be read')
  const { socket, begun } = stalled('/cut.bin')
  await begun
  truncateSync(join(folder, 'files/cut.bin'), 100)
  const failed = new Promise<NodeJS.ErrnoException>((resolve) => socket.on('error', resolve))
  socket.resume()
  expect((await failed).code).toBe('ECONNRESET')
  await untilAllClosed()
  expect(await ask('/a.txt')).toMatchObject({ status: 200 })
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

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Reads a file as fast as it comes. */
function fetchDigest(path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port: stand.port, path, headers: { host: HOST }, agent: false }, (response) => {
      const hash = createHash('sha256')
      response.on('data', (data: Buffer) => hash.update(data))
      response.on('error', reject)
      response.on('end', () => resolve(hash.digest('hex')))
    }).on('error', reject)
  })
}

/** Reads the beginning of a file, and the rest in bits when told. */
function slowReader(path: string): { readonly bytes: number; rest(): Promise<string> } {
  const socket = connect({ port: stand.port, host: '127.0.0.1' })
  const pieces: Buffer[] = []
  let bytes = 0
  let slow = true
  socket.on('error', () => {})
  socket.on('data', (data: Buffer) => {
    pieces.push(data)
    bytes += data.length
    if (!slow) return
    socket.pause()
    setTimeout(() => socket.resume(), 2)
  })
  socket.write(`GET ${path} HTTP/1.1\r\n${H}\r\nConnection: close\r\n\r\n`)
  return {
    get bytes() {
      return bytes
    },
    rest: () =>
      new Promise((resolve) => {
        setTimeout(() => (slow = false), 200)
        socket.on('close', () => {
          const whole = Buffer.concat(pieces)
          resolve(digest(whole.subarray(whole.indexOf('\r\n\r\n') + 4)))
        })
      }),
  }
}

/** A client that reads the first bytes of an answer and no more. */
function stalled(path: string): { socket: Socket; begun: Promise<void> } {
  const socket = connect({ port: stand.port, host: '127.0.0.1' })
  socket.on('error', () => {})
  const begun = new Promise<void>((resolve) => {
    socket.once('data', () => {
      socket.pause()
      resolve()
    })
    socket.once('close', () => resolve())
  })
  socket.write(`GET ${path} HTTP/1.1\r\n${H}\r\n\r\n`)
  return { socket, begun }
}

/** Resident bytes of the workers (proc(5), VmRSS). */
async function memory(): Promise<number> {
  const { workers } = await stand.processes()
  return workers
    .map((pid) => Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1024)
    .reduce((sum, bytes) => sum + bytes, 0)
}
