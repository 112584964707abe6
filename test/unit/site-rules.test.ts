import { describe, expect, it, test } from 'vitest'
import { array, assert, constantFrom, property } from 'fast-check'
import { parseHeaders, parseRedirects } from '../../daemon/builds/site-rules.ts'
import { METHOD_GET } from '../../proxy/http1/request-head.ts'
import { rangeOf, precondition } from '../../proxy/sites/conditions.ts'
import { chooseCoding } from '../../proxy/compression/codings.ts'
import { isHashedName, mayBeHashed } from '../../proxy/sites/hashed-name.ts'
import { mediaType } from '../../proxy/sites/media-types.ts'
import { decodePath, isHidden } from '../../proxy/sites/path.ts'
import { Pattern, splitPath } from '../../proxy/sites/pattern.ts'
import type { SiteRequest } from '../../proxy/sites/request.ts'
import { Rules } from '../../proxy/sites/rules.ts'

describe('a _redirects file', () => {
  it('gives its rules in order, 301 by default, without comments and empty lines', () => {
    const text = `\ufeff# moved
/old /new

/blog/:year/* /archive/:year/:splat 302 # the old blog
  /away\thttps://example.com/x?y=1\t308
/app/* /app/index.html 200
/gone /404.html 404\r
`
    expect(parseRedirects(text)).toEqual({
      redirects: [
        { from: '/old', to: '/new', status: 301 },
        { from: '/blog/:year/*', to: '/archive/:year/:splat', status: 302 },
        { from: '/away', to: 'https://example.com/x?y=1', status: 308 },
        { from: '/app/*', to: '/app/index.html', status: 200 },
        { from: '/gone', to: '/404.html', status: 404 },
      ],
      notes: [],
    })
  })

  test.each([
    ['no target', '/a', /no target/],
    ['a status and no target', '/a 301', /no target/],
    ['a forced status', '/a /b 200!', /forced status \(200!\)/],
    ['a country', '/a /b 302 Country=de', /conditions \(Country=de\)/],
    ['a language without a status', '/a /b Language=en', /conditions \(Language=en\)/],
    ['a condition on the query', '/a id=:id /b/:id 301', /query \(id=:id\)/],
    ['another status', '/a /b 418', /status 418 is not one of/],
    [
      'a rewrite to another server',
      '/api/* https://api.example.com/:splat 200',
      /must be a path of the site/,
    ],
    ['a host to match', 'https://a.example/x /y', /not a path/],
    ['a star inside', '/a/*/b /c', /\* before its end/],
    ['a target without a scheme', '/a //evil.example', /without a scheme/],
    ['a target that is not a URL', '/a http://', /not a URL/],
    ['a bad escape', '/%zz /b', /does not begin an escape/],
    ['a name that the path lacks', '/a/:b /c/:d', /:d in the target does not occur/],
    ['a splat without a star', '/a /b/:splat', /:splat in the target does not occur/],
    ['a query to match', '/a?b=c /d', /query or a fragment/],
    ['a line without an end', `/a /${'b'.repeat(9_000)}`, /more than 8000 characters/],
  ])('leaves a line with %s out and says so', (_what, line, why) => {
    const { redirects, notes } = parseRedirects(`/first /one\n${line}\n/last /two`)
    expect(redirects.map(({ from }) => from)).toEqual(['/first', '/last'])
    expect(notes).toHaveLength(1)
    expect(notes[0]).toMatch(/^line 2 is ignored: /)
    expect(notes[0]).toMatch(why)
  })

  it('reads a port as a port', () => {
    expect(parseRedirects('/a https://example.com:8443/b').redirects[0]!.to).toBe(
      'https://example.com:8443/b',
    )
  })

  it('is cut at its limits, and the notes are few', () => {
    const many = parseRedirects(Array.from({ length: 1_200 }, (_, at) => `/${at} /x`).join('\n'))
    expect(many.redirects).toHaveLength(1_000)
    expect(many.notes).toHaveLength(51)
    expect(many.notes.at(-1)).toBe('150 more lines are ignored')
    expect(parseRedirects('#'.repeat(300 * 1024))).toEqual({
      redirects: [],
      notes: ['the file is ignored: it is larger than 256 KiB'],
    })
  })
})

describe('a _headers file', () => {
  it('gives its blocks with their fields', () => {
    const text = `# all
/*
  X-Frame-Options: DENY
  Link: </a.css>; rel=preload
\tLink: </b.css>; rel=preload
/empty
/api/:version/*
  Access-Control-Allow-Origin: *
`
    expect(parseHeaders(text)).toEqual({
      headers: [
        {
          path: '/*',
          fields: [
            ['X-Frame-Options', 'DENY'],
            ['Link', '</a.css>; rel=preload'],
            ['Link', '</b.css>; rel=preload'],
          ],
        },
        { path: '/api/:version/*', fields: [['Access-Control-Allow-Origin', '*']] },
      ],
      notes: [],
    })
  })

  test.each([
    ['a name with a space', '  X Y: z', /"X Y" is not a valid header name/],
    ['no colon', '  X-Y', /not a header/],
    ['a control character', '  X-Y: a\x00b', /visible ASCII/],
    ['no value', '  X-Y:', /visible ASCII/],
    ['other letters', '  X-Y: ü', /visible ASCII/],
    ['a length', '  content-length: 5', /set only by the server/],
    ['a framing', '  Transfer-Encoding: chunked', /set only by the server/],
    ['passwords, which everyone would see', '  basic-auth: ann:secret', /not supported: the pages are open/],
    ['a name that is taken away', '  ! X-Frame-Options: x', /removing a header/],
  ])('leaves a field with %s out and says so', (_what, line, why) => {
    const { headers, notes } = parseHeaders(`/*\n${line}\n  X-Last: 1`)
    expect(headers).toEqual([{ path: '/*', fields: [['X-Last', '1']] }])
    expect(notes).toHaveLength(1)
    expect(notes[0]).toMatch(/^line 2 is ignored: /)
    expect(notes[0]).toMatch(why)
  })

  it('leaves out a block for another host with its fields, and fields before any path', () => {
    const { headers, notes } = parseHeaders('  X-A: 1\nhttps://a.example/*\n  X-B: 2\n  X-C: 3\n/\n  X-D: 4')
    expect(headers).toEqual([{ path: '/', fields: [['X-D', '4']] }])
    expect(notes).toEqual([
      'line 1 is ignored: it has no path before it',
      'line 2 is ignored: https://a.example/* is not a path: only paths of the site can be matched',
    ])
  })
})

describe('rules', () => {
  const find = (text: string, path: string) =>
    new Rules({ redirects: parseRedirects(text).redirects, headers: [] }).find(path)

  it('are tried in order', () => {
    expect(find('/a /first\n/* /second', '/a')).toMatchObject({ location: '/first' })
    expect(find('/a /first\n/* /second', '/b')).toMatchObject({ location: '/second' })
  })

  it('insert what was matched into the target, encoded as a path', () => {
    expect(find('/u/:name/* https://x.example/:name?rest=:splat', '/u/a b/c/ü/')).toMatchObject({
      location: 'https://x.example/a%20b?rest=c/%C3%BC/',
    })
  })

  it('match an encoded path by its meaning', () => {
    expect(find('/caf%C3%A9 /coffee', '/café')).toMatchObject({ location: '/coffee' })
    expect(find('/a /ü', '/a')).toMatchObject({ location: '/%C3%BC' })
  })

  it('never lead a path to itself', () => {
    expect(find('/* /:splat', '/a')).toBeNull()
    expect(find('/* /home?from=all', '/home')).toBeNull()
    expect(find('/* /home#top', '/home')).toBeNull()
    expect(find('/* /@home', '/@home')).toBeNull()
    expect(find('/* /caf%c3%a9,now', '/café,now')).toBeNull()
    expect(find('/* /home?from=all', '/home/')).toMatchObject({ location: '/home?from=all' })
  })

  it('cannot redirect to another host through a path', () => {
    expect(decodePath('/old/%2F%2Fevil.example')).toBeNull()
    expect(find('/old* /:splat', '/old//evil.example')).toMatchObject({ location: '/evil.example' })
    expect(find('/* /:splat', '//evil.example')).toMatchObject({ location: '/evil.example' })
    expect(find('/old* /:splat', '/old/evil.example')).toMatchObject({ location: '/evil.example' })
    expect(find('/:lang/* /:splat/:lang', '/evil.example')).toBeNull()
    expect(find('/go/:host/* /:splat/:host', '/go/evil.example/')).toMatchObject({
      location: '/evil.example',
    })
    expect(
      new Rules({ redirects: [{ from: '/go/*', to: '/\\:splat', status: 301 }], headers: [] }).find('/go/x'),
    ).toMatchObject({ location: '/x' })
    expect(find('/old* /new:splat', '/old/x')).toMatchObject({ location: '/new/x' })
    expect(find('/old* /new/:splat 200', '/old/x')).toMatchObject({ path: '/new/x' })
    expect(find('/old* https://x.example/:splat', '/old/x')).toMatchObject({
      location: 'https://x.example/x',
    })
  })

  it('reveal no passwords of a site that was deployed when they were taken for fields', () => {
    const headers = [
      {
        path: '/*',
        fields: [
          ['Basic-Auth', 'ann:secret'],
          ['X-A', '1'],
        ] as [string, string][],
      },
    ]
    expect(new Rules({ redirects: [], headers }).fieldsFor('/')).toEqual([['X-A', '1']])
  })

  it('rewrite to the path without its query', () => {
    expect(find('/p/:id /page.html?id=:id 200', '/p/7')).toEqual({
      kind: 'rewrite',
      status: 200,
      path: '/page.html',
    })
  })
})

it('compare the longest path with the most rules quickly', () => {
  const text = Array.from({ length: 1_000 }, (_, at) => `/:a/${at}/* /x/:splat`).join('\n')
  const headers = Array.from({ length: 1_000 }, () => ({
    path: '/*',
    fields: [['X', 'y']] as [string, string][],
  }))
  const rules = new Rules({ redirects: parseRedirects(text).redirects, headers })
  const path = '/a'.repeat(4_000)
  // If each rule walked the path, these would take longer than the test may.
  for (let round = 0; round < 300; round++) {
    expect(rules.find(path)).toBeNull()
    expect(rules.fieldsFor(path)).toHaveLength(1_000)
    expect(isHashedName(`/${'-a'.repeat(4_000)}.js`)).toBe(false)
  }
})

test.each([
  ['/a', '/a', {}],
  ['/a', '/a/', {}],
  ['/a/', '/a', {}],
  ['/a', '/a/b', null],
  ['/a', '/A', null],
  ['/*', '/', { splat: '' }],
  ['/*', '/a/b', { splat: 'a/b' }],
  ['/a/*', '/a', { splat: '' }],
  ['/a/*', '/a/b/', { splat: 'b/' }],
  ['/a/*', '/ab', null],
  ['/a*', '/abc/d', { splat: 'bc/d' }],
  ['/:x/:y', '/1/2', { x: '1', y: '2' }],
  ['/:x/:y', '/1', null],
])('the pattern %s takes from %s: %o', (pattern, path, taken) => {
  const match = new Pattern(pattern).match(splitPath(path))
  expect(match && Object.fromEntries(match)).toEqual(taken)
})

describe('the path of a request', () => {
  test.each([
    ['/a%20b', '/a b'],
    ['/caf%C3%A9', '/café'],
    ['/caf\xc3\xa9', '/café'],
    ['/100%25', '/100%'],
    ['/%252e%252e/', '/%2e%2e/'],
  ])('%s is %s', (target, path) => expect(decodePath(target)).toBe(path))

  test.each([
    '/..',
    '/../etc/passwd',
    '/a/%2e%2e/b',
    '/a/.%2E',
    '/./a',
    '/a%2fb',
    '/a%5Cb',
    '/a\\b',
    '/%',
    '/%zz',
    '/%c0%ae%c0%ae/',
    '/%00',
    '/%0d%0a',
    '/\xff',
  ])('%s is malformed', (target) => expect(decodePath(target)).toBeNull())

  test.each(['/.env', '/.git/config', '/a/.b/c', '/_redirects', '/_headers', '/.well-known/.x'])(
    '%s is hidden',
    (path) => expect(isHidden(path)).toBe(true),
  )

  test.each(['/', '/a/', '/.well-known/security.txt', '/a/_redirects', '/a.b/c'])(
    '%s is not hidden',
    (path) => expect(isHidden(path)).toBe(false),
  )

  it('never gets a dot segment, a NUL or a backslash past the check', () => {
    const piece = constantFrom('.', '..', '%2e', '/', '%2f', '\\', '%5c', '%00', 'a', '%25', '%')
    assert(
      property(array(piece, { maxLength: 12 }), (pieces) => {
        const path = decodePath(`/${pieces.join('')}`)
        expect(path === null || !/\0|\\|(^|\/)\.\.?(\/|$)/.test(path)).toBe(true)
      }),
    )
  })
})

describe('a content-hashed name', () => {
  test.each([
    'index-B1cD3fGh.js',
    'index-D_x-4k2Z.js',
    'style-BxQzKdfA.css',
    'index-B1cD3fGh.js.map',
    'main.3f2a9c1b.js',
    'main.3f2a9c1b.css',
    '2.073c9b0a.chunk.css',
    'main.48210953.js',
    'webpack-3f2a9c1b0d4e5f6a.js',
    '1dd3208c-0123456789abcdef.js',
    '3f2a9c1b.js',
    'Bx3dQq1A.js',
    'app-KJ3XZ4AB.js',
    'chunk-KJQXZWAB.js',
    'logo.1a2b3c4d.svg',
    'inter-latin-D7tH3kLm.woff2',
    '_next/static/abcdefghijk/_buildManifest.js',
    '_app/immutable/entry/start.js',
    '_astro/hoisted.js',
    'base/_next/static/chunks/app.js',
    '_nuxt/BKjfMlpe.js',
  ])('is %s', (name) => expect(isHashedName(`/${name}`)).toBe(true))

  test.each([
    'jquery-3.7.1.min.js',
    'my-component.js',
    'user-settings.js',
    'MyWidget.js',
    'chunk-MyWidget.js',
    'bootstrap.bundle.min.js',
    'app.js',
    'README',
    'index.html',
    'page-3f2a9c1b.html',
    'chapter2.js',
    'photo-20240115.jpg',
    'app-20240115.js',
    'photo-12345678.jpg',
    'banner-1024x768.png',
    'icon-48x48-2x.png',
    'DSC01234.jpg',
    'IMG_1234.jpg',
    'iPhone15.png',
    'foo-bar-baz1.js',
    '_WeakMap.js',
    'base64js.min.js',
    'robots.txt',
    '_nuxt/builds/latest.json',
    'site.webmanifest',
    'Inter-Regular.woff2',
    'Inter-SemiBold.woff2',
  ])('is not %s', (name) => expect(isHashedName(`/${name}`)).toBe(false))

  it('matches nearly every name that Vite or webpack makes, and an old page misses none of its code', () => {
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-'
    for (const alphabet of [letters, '0123456789abcdef']) {
      const names = Array.from({ length: 5_000 }, (_, seed) => `/assets/index-${draw(alphabet, seed)}.js`)
      const share = (test: (name: string) => boolean) => names.filter(test).length / names.length
      expect(share(isHashedName)).toBeGreaterThan(0.96)
      expect(share(mayBeHashed)).toBeGreaterThan(0.996)
    }
  })

  test.each([
    'my-component.js',
    'app.js',
    'user-settings.css',
    'DSC01234.jpg',
    'jquery-3.7.1.min.js',
    'a.html',
  ])('is not even possibly %s', (name) => expect(mayBeHashed(`/${name}`)).toBe(false))
})

/** Eight characters that look random and are the same each time. */
function draw(alphabet: string, seed: number): string {
  let state = seed * 2_654_435_761 + 12_345
  let text = ''
  for (let at = 0; at < 8; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    text += alphabet[Math.floor((state / 2 ** 32) * alphabet.length)]
  }
  return text
}

test.each([
  ['gzip', 'gzip'],
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip, zstd', 'zstd'],
  ['br;q=0.5, gzip;q=0.8', 'gzip'],
  ['br;q=0, gzip', 'gzip'],
  ['*', 'br'],
  ['*;q=0.5, br;q=0', 'zstd'],
  ['identity, br;q=0.5', null],
  ['identity;q=0.5, br;q=0.5', 'br'],
  ['identity;q=0', null],
  ['deflate', null],
  ['', null],
  ['BR', 'br'],
  ['gzip;q=2', null],
])('of br, zstd and gzip "%s" gets %s', (accept, coding) => {
  expect(chooseCoding(accept, ['br', 'zstd', 'gzip'])).toBe(coding)
})

const NONE: SiteRequest = {
  method: METHOD_GET,
  hasBody: false,
  path: '/',
  query: '',
  accept: null,
  acceptEncoding: null,
  ifMatch: null,
  ifNoneMatch: null,
  ifModifiedSince: null,
  ifUnmodifiedSince: null,
  ifRange: null,
  range: null,
}
const VALIDATORS = { etag: '"a"', modifiedAt: Date.parse('2026-01-02T03:04:05.678Z') }
const DATE = 'Fri, 02 Jan 2026 03:04:05 GMT'
const EARLIER = 'Fri, 02 Jan 2026 03:04:04 GMT'

test.each<[Partial<SiteRequest>, number]>([
  [{}, 200],
  [{ ifNoneMatch: '"a"' }, 304],
  [{ ifNoneMatch: 'W/"a"' }, 304],
  [{ ifNoneMatch: '"b", "a"' }, 304],
  [{ ifNoneMatch: '*' }, 304],
  [{ ifNoneMatch: '"b"' }, 200],
  [{ ifNoneMatch: '"b"', ifModifiedSince: DATE }, 200],
  [{ ifModifiedSince: DATE }, 304],
  [{ ifModifiedSince: 'Friday, 02-Jan-26 03:04:05 GMT' }, 304],
  [{ ifModifiedSince: 'Fri Jan  2 03:04:05 2026' }, 304],
  [{ ifModifiedSince: EARLIER }, 200],
  [{ ifModifiedSince: 'yesterday' }, 200],
  [{ ifMatch: '"a"' }, 200],
  [{ ifMatch: '"b"' }, 412],
  [{ ifMatch: 'W/"a"' }, 412],
  [{ ifMatch: '"b"', ifNoneMatch: '"a"' }, 412],
  [{ ifUnmodifiedSince: EARLIER }, 412],
  [{ ifUnmodifiedSince: DATE }, 200],
])('a request with %o is answered with %i', (fields, status) => {
  expect(precondition({ ...NONE, ...fields }, VALIDATORS)).toBe(status)
})

test.each([
  ['"a"', 304],
  ['W/"a"', 304],
  ['"b", W/"a"', 304],
  ['W/"b"', 200],
])('with a weak tag is compared weakly with If-None-Match %s', (ifNoneMatch, status) => {
  const weak = { ...VALIDATORS, etag: 'W/"a"' }
  expect(precondition({ ...NONE, ifNoneMatch }, weak)).toBe(status)
  expect(precondition({ ...NONE, ifMatch: ifNoneMatch }, weak)).toBe(412)
})

test.each<[string, string | null, unknown]>([
  ['bytes=0-4', null, { start: 0, end: 5 }],
  ['bytes=5-', null, { start: 5, end: 10 }],
  ['bytes=5-100', null, { start: 5, end: 10 }],
  ['bytes=-3', null, { start: 7, end: 10 }],
  ['bytes=-30', null, { start: 0, end: 10 }],
  ['Bytes=0-0', null, { start: 0, end: 1 }],
  ['bytes=10-', null, 'unsatisfiable'],
  ['bytes=-0', null, 'unsatisfiable'],
  ['bytes=5-9223372036854775807', null, { start: 5, end: 10 }],
  ['bytes=-18446744073709551616', null, { start: 0, end: 10 }],
  ['bytes=18446744073709551616-', null, 'unsatisfiable'],
  ['bytes=5-4', null, null],
  ['bytes=0-1,3-4', null, null],
  ['bytes=-', null, null],
  ['lines=0-1', null, null],
  ['bytes=0-1', '"a"', { start: 0, end: 2 }],
  ['bytes=0-1', '"b"', null],
  ['bytes=0-1', 'W/"a"', null],
  ['bytes=0-1', DATE, { start: 0, end: 2 }],
  ['bytes=0-1', EARLIER, null],
])('of ten bytes "%s" with If-Range %s gets %o', (range, ifRange, bytes) => {
  expect(rangeOf({ ...NONE, range, ifRange }, 10, VALIDATORS)).toEqual(bytes)
})

test.each([
  ['/index.html', 'text/html; charset=utf-8'],
  ['/a.JS', 'text/javascript; charset=utf-8'],
  ['/a.js.map', 'application/json; charset=utf-8'],
  ['/a.woff2', 'font/woff2'],
  ['/LICENSE', 'application/octet-stream'],
  ['/a.unknown', 'application/octet-stream'],
])('%s is %s', (name, type) => expect(mediaType(name)).toBe(type))
