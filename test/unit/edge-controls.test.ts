import { scryptSync } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest'
import { plainSource, sourceFault } from '#server/edge/addresses.ts'
import { PasswordHashes } from '#server/edge/passwords.ts'
import { findCircle } from '#server/edge/redirects.ts'
import { exceptPathFault } from '#server/edge/rules.ts'
import { patchEnvironment } from '#server/environments/operations.ts'
import { findEnvironment } from '#server/environments/store.ts'
import { createService } from '#server/services/operations.ts'
import { ServiceInput } from '#server/services/input.ts'
import { buildTable, NOTHING_AHEAD } from '../../daemon/proxy/table.ts'
import { openContext } from '../support/context.ts'

describe('an allowed source', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['203.0.113.7/24', '203.0.113.7/24'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['2001:db8::1', '2001:db8::1'],
    ['::/0', '::/0'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::FFFF:cb00:7107', '203.0.113.7'],
    ['0:0:0:0:0:ffff:203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.0/120', '203.0.113.0/24'],
    ['::ffff:0:0/96', '0.0.0.0/0'],
    ['::/96', '::/96'],
    ['::203.0.113.7', '::203.0.113.7'],
  ])('%s is compared as %s', (source, plain) => {
    expect(sourceFault(source)).toBeNull()
    expect(plainSource(source)).toBe(plain)
  })
})

describe('a circle of redirects', () => {
  it.each([
    ['a path to itself', [['/a', '/a']], 0],
    ['a path to itself with a slash', [['/a', '/a/']], 0],
    ['all paths to one of them', [['/*', '/new']], 0],
    [
      'there and back',
      [
        ['/a', '/b'],
        ['/b', '/a?x=1'],
      ],
      0,
    ],
    [
      'through what is captured',
      [
        ['/a/:x/*', '/b/:splat/:x'],
        ['/b/*', '/a/:splat'],
      ],
      0,
    ],
    [
      'an encoded path',
      [
        ['/ok', '/'],
        ['/%61', '/a'],
      ],
      1,
    ],
    ['longer and longer paths', [['/a/*', '/a/b/:splat']], 0],
    [
      'behind others',
      [
        ['/x', 'https://example.com/'],
        ['/c', '/d'],
        ['/d', '/e'],
        ['/e', '/c'],
      ],
      1,
    ],
  ] as [string, [string, string][], number][])('is found: %s', (_, rules, index) => {
    const redirects = rules.map(([from, to]) => ({ from, to }))
    expect(findCircle(redirects)).toMatchObject({
      index,
      fault: expect.stringMatching('^leads in a circle: /'),
    })
  })

  it.each([
    [
      'a chain',
      [
        ['/a', '/b'],
        ['/b', '/c'],
      ],
    ],
    ['another host', [['/*', 'https://example.com/:splat']]],
    [
      'an exception before the rest',
      [
        ['/new', 'https://example.com/new'],
        ['/*', '/new'],
      ],
    ],
    ['shorter and shorter paths', [['/a/*', '/:splat']]],
    ['a target below its path', [['/a', '/a/b']]],
  ] as [string, [string, string][]][])('is not: %s', (_, rules) => {
    expect(findCircle(rules.map(([from, to]) => ({ from, to })))).toBeNull()
  })
})

describe('a path without a password', () => {
  it.each([
    '/',
    '/*',
    '/webhooks/*',
    '/webhooks/:name',
    '/a%20b',
    '/%C3%A9',
    '/é',
    '/a..b',
    '/.well-known/*',
  ])('may be %s', (path) => {
    expect(exceptPathFault(path)).toBeNull()
  })

  it.each([
    'a',
    '',
    '/..',
    '/a/./b',
    '/a/../b',
    '//a',
    '/a//',
    '/%2E%2e',
    '/a%2Fb',
    '/%5c',
    '/%0a',
    '/a\\b',
    '/*/a',
  ])('is not %s, which requests could write in another way', (path) => {
    expect(exceptPathFault(path)).not.toBeNull()
  })
})

test('a password of any length counts to its last byte, and its hash says how it was made', async () => {
  const hashes = new PasswordHashes()
  const [long, longer] = ['é'.repeat(500), `${'é'.repeat(500)}x`]
  await hashes.add(
    [long, longer].map((password) => ({ username: 'ada', password })),
    [],
  )
  const texts = [long, longer].map((password) => hashes.hashOf({ username: 'ada', password }, undefined)!)
  for (const [index, text] of texts.entries()) {
    const [, salt, key] = /^\$scrypt\$ln=14,r=8,p=5\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/.exec(text)!
    const made = scryptSync([long, longer][index]!, Buffer.from(salt!, 'base64'), 32, {
      N: 2 ** 14,
      r: 8,
      p: 5,
    })
    expect(made.equals(Buffer.from(key!, 'base64'))).toBe(true)
  }
  // The same password again keeps its hash, so that nothing changes.
  const again = new PasswordHashes()
  await again.add([{ username: 'ada', password: long }], [{ username: 'ada', hash: texts[0]! }])
  expect(again.hashOf({ username: 'ada', password: long }, texts[0])).toBe(texts[0])
  expect(again.hashOf({ username: 'ada', password: null }, texts[1])).toBe(texts[1])
  expect(again.hashOf({ username: 'bob', password: null }, undefined)).toBeUndefined()
})

describe('the route table', () => {
  let close: () => Promise<void>
  beforeEach(async () => ({ close } = await openContext()))
  afterEach(() => close())

  const targets = () => buildTable([], 0, NOTHING_AHEAD).targets
  const make = (fields: object, hashes?: PasswordHashes) =>
    createService(ServiceInput.parse({ name: 'web', image: 'busybox:1', deploy: false, ...fields }), hashes)
      .id

  it('says nothing of a service that asks for nothing', () => {
    const ids = [make({}), make({ name: 'off', maintenance: { enabled: false, message: 'Back soon' } })]
    for (const id of ids) expect(targets()[id]).toEqual({ id, state: 'not_deployed', upstreams: [] })
  })

  it('has what a service asks for, also for what leads to its canonical domain', async () => {
    const hashes = new PasswordHashes()
    await hashes.add([{ username: 'ada', password: 'x' }], [])
    const id = make(
      {
        custom_domains: ['example.org', 'www.example.org'],
        canonical_domain: 'example.org',
        ip_allow_list: [{ source: '::ffff:203.0.113.7' }],
        redirects: [{ from: '/a', to: '/b' }],
        maintenance: { enabled: true, page: '<p>', allow_ips: ['::1'] },
        rate_limit: { requests: 10 },
        basic_auth: { users: [{ username: 'ada', password: 'x' }] },
        headers: [{ name: 'Server', value: null }],
        session_affinity: true,
        upstream_timeout_seconds: 2,
        max_body_mb: 1,
        access_log: true,
      },
      hashes,
    )
    const table = targets()
    expect(table[id]!.edge).toEqual({
      allow: ['203.0.113.7'],
      redirects: [{ from: '/a', to: '/b', status: 308 }],
      maintenance: { page: '<p>', retry_after_seconds: 60, allow: ['::1'] },
      rate_limit: { requests: 10, period_seconds: 60, burst: 10 },
      basic_auth: {
        users: [{ username: 'ada', hash: hashes.hashOf({ username: 'ada', password: 'x' }, undefined) }],
        except_paths: [],
      },
      headers: [{ path: '/*', name: 'Server', value: null }],
      session_affinity: true,
      upstream_timeout_ms: 2_000,
      max_body_bytes: 1_048_576,
      access_log: true,
    })
    expect(table[`${id} canonical`]!.edge).toEqual(table[id]!.edge)
  })

  it('has what the environment has, for services that have none of their own', () => {
    const [plain, own, open] = [
      make({ name: 'plain' }),
      make({ name: 'own', ip_allow_list: [{ source: '198.51.100.7' }] }),
      make({ name: 'nobody', ip_allow_list: [] }),
    ]
    const edge_defaults = { ip_allow_list: [{ source: '203.0.113.7', description: null }] }
    patchEnvironment(findEnvironment(), { edge_defaults }, new PasswordHashes())
    const allowed = [plain, own, open].map((id) => targets()[id]!.edge?.allow)
    expect(allowed).toEqual([['203.0.113.7'], ['198.51.100.7'], []])
    patchEnvironment(findEnvironment(), { edge_defaults: null }, new PasswordHashes())
    expect(targets()[plain]).not.toHaveProperty('edge')
  })
})
