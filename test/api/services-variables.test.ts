import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { refusal } from './account-client.ts'

let server: TestServer

beforeAll(async () => {
  server = await startServer()
  await server.api('POST', '/services', { name: 'api' })
})
afterAll(() => server.stop())

const FIRST = [
  { key: 'B', value: '2' },
  { key: 'A', value: '1' },
]

beforeEach(async () => {
  await server.api('PUT', '/services/api/env', { vars: FIRST })
})

async function variables(): Promise<unknown> {
  return (await server.api('GET', '/services/api/env')).body
}

describe('the variables of a service', () => {
  it('are given with its creation', async () => {
    const env = [{ key: 'PORT', value: '8080' }]
    const { body } = await server.api('POST', '/services', { name: 'with-env', env })
    expect(body.internal_port).toBe(8_080)
    expect(JSON.stringify(body)).not.toContain('"env"')
    expect((await server.api('GET', '/services/with-env/env')).body).toEqual(env)
  })

  it.each(['abc', '0', '70000', '80 '])('are refused with PORT as %j, if that is the port', async (value) => {
    const env = [{ key: 'PORT', value }]
    const answer = await server.api('POST', '/services', { name: 'wrong-port', env })
    expect(answer).toMatchObject({
      status: 400,
      body: {
        error: { message: expect.stringMatching(/^env: PORT is .*: it must be a number from 1 to 65535/) },
      },
    })
    // If something else says what the port is, it is a variable like others.
    for (const more of [{ port: 3000 }, { type: 'background_worker' }]) {
      const name = `port-${randomUUID().slice(0, 8)}`
      expect((await server.api('POST', '/services', { name, env, ...more })).status).toBe(201)
    }
  })

  it('are replaced completely by PUT, in the order given', async () => {
    const vars = [
      { key: 'Z', value: '' },
      { key: 'C', value: 'x' },
    ]
    expect(await server.api('PUT', '/services/api/env', { vars })).toMatchObject({ status: 200, body: vars })
    expect(await variables()).toEqual(vars)
    expect((await server.api('PUT', '/services/api/env', { vars: [] })).body).toEqual([])
  })

  it('are replaced by a PATCH of the service that names them, and kept by one that does not', async () => {
    await server.api('PATCH', '/services/api', { branch: 'next' })
    expect(await variables()).toEqual(FIRST)
    await server.api('PATCH', '/services/api', { env: [{ key: 'ONLY', value: '1' }] })
    expect(await variables()).toEqual([{ key: 'ONLY', value: '1' }])
  })

  it.each([
    [{ set: [{ key: 'A', value: 'new' }] }],
    [{ set: { A: 'new' } }],
    [{ set: { A: 'new' }, unset: ['UNKNOWN'] }],
  ])('are set by PATCH as a list or an object, and the rest stays: %j', async (patch) => {
    const { status, body } = await server.api('PATCH', '/services/api/env', patch)
    expect(status).toBe(200)
    expect(body).toEqual([
      { key: 'B', value: '2' },
      { key: 'A', value: 'new' },
    ])
  })

  it('are set and removed in one PATCH, and an empty one changes nothing', async () => {
    const patch = { set: { C: '3' }, unset: ['B'] }
    expect((await server.api('PATCH', '/services/api/env', patch)).body).toEqual([
      { key: 'A', value: '1' },
      { key: 'C', value: '3' },
    ])
    const before = await variables()
    for (const empty of ['', {}, { set: [] }, { set: {}, unset: [] }]) {
      expect((await server.api('PATCH', '/services/api/env', empty)).body).toEqual(before)
    }
  })

  it('may have the names that JavaScript objects have', async () => {
    const patch = '{"set": {"constructor": "1", "toString": "2", "hasOwnProperty": "3"}}'
    await server.api('PATCH', '/services/api/env', patch)
    expect(await variables()).toEqual([
      ...FIRST,
      { key: 'constructor', value: '1' },
      { key: 'toString', value: '2' },
      { key: 'hasOwnProperty', value: '3' },
    ])
  })

  it.each([
    '',
    ' ',
    'a\nb\r\n',
    '$HOME ${X} `id` \\ \' "',
    '{"a": [1]}',
    '\u{1f4a9} é',
    'x'.repeat(64 * 1024),
  ])('keep any text as it is: %j', async (value) => {
    await server.api('PUT', '/services/api/env', { vars: [{ key: 'V', value }] })
    expect(await variables()).toEqual([{ key: 'V', value }])
  })

  it('are limited to 1,000 and 512 KiB together', async () => {
    const many = Array.from({ length: 1_000 }, (_, index) => ({ key: `K${index}`, value: '' }))
    expect((await server.api('PUT', '/services/api/env', { vars: many })).body).toHaveLength(1_000)
    expect(await server.api('PATCH', '/services/api/env', { set: { ONE_MORE: '' } })).toMatchObject(
      refusal(400, 'invalid_request'),
    )
    expect(await variables()).toHaveLength(1_000)
    const large = Array.from({ length: 8 }, (_, index) => ({
      key: `K${index}`,
      value: 'x'.repeat(64 * 1024 - 2),
    }))
    expect((await server.api('PUT', '/services/api/env', { vars: large })).status).toBe(200)
    expect(await server.api('PATCH', '/services/api/env', { set: { L: '' } })).toMatchObject(
      refusal(400, 'invalid_request'),
    )
    expect(await variables()).toHaveLength(8)
  })

  it('are encrypted on disk and never in the log', async () => {
    const secret = 'v3ry-s3cret-value'
    await server.api('PUT', '/services/api/env', { vars: [{ key: 'SECRET', value: secret }] })
    const { readFileSync, readdirSync } = await import('node:fs')
    const found = readdirSync(server.dataDirectory).filter((file) => {
      if (!file.startsWith('deployer.db')) return false
      return readFileSync(`${server.dataDirectory}/${file}`).includes(secret)
    })
    expect(found).toEqual([])
    expect(server.logs).not.toContain(secret)
  })

  it('create no deploy of a service that is not live, even with restart', async () => {
    for (const [method, body] of [
      ['PUT', { vars: [] }],
      ['PATCH', { set: { A: '9' } }],
    ] as const) {
      expect((await server.api(method, '/services/api/env?restart=true', body)).status).toBe(200)
    }
    expect((await server.api('GET', '/services/api/deploys')).body).toEqual([])
  })
})

const BAD_LISTS: [string, unknown, RegExp][] = [
  ['no list', { A: '1' }, /^vars: /],
  ['null', null, /^vars: /],
  ['a text', 'A=1', /^vars: /],
  ['a pair as a text', ['A=1'], /^vars\.0: /],
  ['a number as the value', [{ key: 'A', value: 1 }], /^vars\.0\.value: /],
  ['no value', [{ key: 'A' }], /^vars\.0\.value: is required/],
  ['no key', [{ value: '' }], /^vars\.0\.key: is required/],
  ['an unknown field', [{ key: 'A', value: '', sync: false }], /^vars\.0\.sync: unknown field/],
  ['an empty key', [{ key: '', value: '' }], /^vars\.0: key/],
  [
    'a digit first, in the second',
    [
      { key: 'A', value: '' },
      { key: '1', value: '' },
    ],
    /^vars\.1: key/,
  ],
  ['a hyphen', [{ key: 'A-B', value: '' }], /^vars\.0: key/],
  ['a newline', [{ key: 'A\n', value: '' }], /^vars\.0: key/],
  ["the server's own prefix", [{ key: 'DEPLOYER_DEPLOY_ID', value: '' }], /DEPLOYER_/],
  ['257 characters', [{ key: 'A'.repeat(257), value: '' }], /256/],
  ['NUL', [{ key: 'A', value: '\0' }], /NUL/],
  ['half of a surrogate pair', [{ key: 'A', value: '\udc00' }], /surrogate/],
  ['a value over 64 KiB', [{ key: 'A', value: 'é'.repeat(32 * 1024 + 1) }], /64 KiB/],
  [
    'the same key twice',
    [
      { key: 'A', value: '1' },
      { key: 'A', value: '1' },
    ],
    /twice/,
  ],
]

describe('bad variables', () => {
  it.each(BAD_LISTS)('are refused and nothing is saved: %s', async (_, vars, message) => {
    const answer = await server.api('PUT', '/services/api/env', { vars })
    expect(answer).toMatchObject(refusal(400, 'invalid_request'))
    expect(answer.body.error.message).toMatch(message)
    expect(await variables()).toEqual(FIRST)
  })

  it.each([
    ['a key in both', { set: { A: 'x' }, unset: ['A'] }, /A.*unset/],
    ['a key in both, as a list', { set: [{ key: 'A', value: 'x' }], unset: ['B', 'A'] }, /A.*unset/],
    ['set is a text', { set: 'A=1' }, /^set: /],
    ['set is null', { set: null }, /^set: /],
    ['a number in the object', { set: { A: 1 } }, /^set/],
    ['unset is an object', { unset: { A: true } }, /^unset: /],
    ['unset holds a number', { unset: [1] }, /^unset\.0: /],
    ['an unknown field', { vars: [] }, /^vars: unknown field/],
    ['a bad key', { set: { 'A B': '1' } }, /^set\.0: key/],
    ['one bad of two', { set: { C: '1', DEPLOYER: '1', DEPLOYER_X: '1' } }, /DEPLOYER_/],
    [
      'the same key twice in the list',
      {
        set: [
          { key: 'C', value: '1' },
          { key: 'C', value: '2' },
        ],
      },
      /twice/,
    ],
  ])('are refused by PATCH and nothing is saved: %s', async (_, patch, message) => {
    const answer = await server.api('PATCH', '/services/api/env', patch)
    expect(answer).toMatchObject(refusal(400, 'invalid_request'))
    expect(answer.body.error.message).toMatch(message)
    expect(await variables()).toEqual(FIRST)
  })

  it('are refused if a key of the object is given twice', async () => {
    const answer = await server.api('PATCH', '/services/api/env', '{"set": {"C": "1", "C": "2"}}')
    expect(answer).toMatchObject(refusal(400, 'invalid_request'))
    expect(await variables()).toEqual(FIRST)
  })

  it.each(['${{service.other.host}}', 'x${{ y }}', '${{'])(
    'are refused with a reference that cannot be resolved, and the error says how to write the text itself: %s',
    async (value) => {
      const answer = await server.api('PUT', '/services/api/env', { vars: [{ key: 'A', value }] })
      expect(answer).toMatchObject(refusal(400, 'invalid_request'))
      expect(answer.body.error.message).toContain('$${{')
    },
  )

  it('are not refused for an escaped reference, a lone brace or a dollar', async () => {
    const vars = ['$${{x}}', '{{x}}', '$ {{x}}', '${x}'].map((value, index) => ({ key: `K${index}`, value }))
    expect((await server.api('PUT', '/services/api/env', { vars })).body).toEqual(vars)
  })

  it('of a service that does not exist are checked after the body', async () => {
    expect(await server.api('PUT', '/services/nobody/env', {})).toMatchObject(refusal(400, 'invalid_request'))
    expect(await server.api('PUT', '/services/nobody/env', { vars: [] })).toMatchObject(
      refusal(404, 'not_found'),
    )
  })
})
