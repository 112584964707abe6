import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { refusal } from './account-client.ts'

let server: TestServer

beforeAll(async () => {
  server = await startServer()
  for (const service of [
    { name: 'web', env: [{ key: 'TOKEN', value: 't0ken' }] },
    { name: 'worker', type: 'background_worker' },
    { name: 'site', type: 'static_site' },
    { name: 'api' },
  ]) {
    await server.api('POST', '/services', service)
  }
})
afterAll(() => server.stop())

function save(value: string, key = 'R'): ReturnType<TestServer['api']> {
  return server.api('PUT', '/services/api/env', { vars: [{ key, value }] })
}

describe('a reference', () => {
  it.each([
    '${{service.web.host}}',
    '${{service.web.port}}',
    '${{service.web.hostport}}',
    '${{service.web}}',
    '${{service.web.url}}',
    '${{service.web.env.TOKEN}}',
    '${{service.site.url}}',
    '${{ service.web.host }}',
    '${{\tservice.web.host  }}',
    'postgres://${{service.web.env.TOKEN}}@${{service.web.host}}:${{service.web.port}}/x?y={{z}}',
    '$${{service.nobody.host}}',
    '$$${{x',
  ])('is saved and shown as it was written: %s', async (value) => {
    const vars = [{ key: 'R', value }]
    expect(await save(value)).toMatchObject({ status: 200, body: vars })
    expect((await server.api('GET', '/services/api/env')).body).toEqual(vars)
  })

  it.each<[string, string, RegExp]>([
    ['an unknown service', '${{service.nobody.host}}', /production has no service nobody/],
    ['an unknown datastore', '${{datastore.nobody.url}}', /production has no datastore nobody/],
    ['a service as a datastore', '${{datastore.web.url}}', /production has no datastore web/],
    ['the service itself', '${{service.api.host}}', /may not refer to itself/],
    ["the service's own variable", '${{service.api.env.R}}', /may not refer to itself/],
    ['an unknown variable', '${{service.web.env.NOBODY}}', /service web has no variable NOBODY of its own/],
    ['a variable of another case', '${{service.web.env.token}}', /no variable token/],
    ['a variable that the server sets', '${{service.web.env.DEPLOYER}}', /no variable DEPLOYER/],
    ['a host of a worker', '${{service.worker.host}}', /a background worker has no host/],
    ['the default of a worker', '${{service.worker}}', /a background worker has no hostport/],
    ['a URL of a worker', '${{service.worker.url}}', /a background worker has no url/],
    ['a port of a static site', '${{service.site.port}}', /a static site has no port/],
    [
      'an unknown property',
      '${{service.web.hosts}}',
      /a service only has hostport, host, port, url, env\.KEY/,
    ],
    [
      'a property of a datastore',
      '${{datastore.db.hosts}}',
      /a datastore only has url, host, port, database/,
    ],
    ['an unknown kind', '${{group.web.host}}', /does not begin a reference/],
    ['no end', 'x${{service.web.host', /without the }}/],
    ['nothing', '${{}}', /does not begin a reference/],
    ['one good and one bad', '${{service.web.host}}${{service.nobody}}', /no service nobody/],
  ])(
    'to %s is refused by every way to save it, and the message names the escape',
    async (_, value, message) => {
      await server.api('PUT', '/services/api/env', { vars: [] })
      const before = (await server.api('GET', '/services')).body
      const vars = [{ key: 'R', value }]
      const attempts: [string, string, string, unknown][] = [
        ['vars', 'PUT', '/services/api/env', { vars }],
        ['set', 'PATCH', '/services/api/env', { set: { R: value } }],
        ['env', 'PATCH', '/services/api', { branch: 'x', env: vars }],
      ]
      if (!value.includes('service.api')) {
        attempts.push(['env', 'POST', '/services', { name: 'never', env: vars }])
      }
      for (const [field, method, path, body] of attempts) {
        const answer = await server.api(method, path, body)
        expect(answer).toMatchObject(refusal(400, 'invalid_request'))
        expect(answer.body.error.message).toMatch(message)
        expect(answer.body.error.message).toMatch(new RegExp(`^${field}(\\.0)?: `))
        expect(answer.body.error.message).toContain('$${{')
      }
      expect((await server.api('GET', '/services')).body).toEqual(before)
      expect((await server.api('GET', '/services/api/env')).body).toEqual([])
    },
  )

  it('never reveals the values that it refers to', async () => {
    await server.api('POST', '/services', {
      name: 'through',
      env: [{ key: 'V', value: '${{service.web.env.TOKEN}}' }],
    })
    await save('${{service.through.env.V}}')
    const answer = await save('${{service.through.env.V}}${{service.nobody}}')
    expect(answer.body.error.message).not.toContain('t0ken')
    expect(server.logs).not.toContain('t0ken')
  })

  it('that is circular is refused, by a create and by a change', async () => {
    await server.api('POST', '/services', { name: 'ring', env: [{ key: 'V', value: '1' }] })
    await save('${{service.ring.env.V}}')
    const answer = await server.api('PATCH', '/services/ring/env', { set: { V: '${{service.api.env.R}}' } })
    expect(answer).toMatchObject(refusal(400, 'invalid_request'))
    expect(answer.body.error.message).toMatch(/^set: V of ring -> R of api -> V of ring: is circular/)
    expect((await server.api('GET', '/services/ring/env')).body).toEqual([{ key: 'V', value: '1' }])
  })
})

describe('a service that others refer to', () => {
  it('is neither deleted nor renamed, and the refusal names service and key', async () => {
    await server.api('POST', '/services', { name: 'target' })
    await server.api('PUT', '/services/api/env', {
      vars: [
        { key: 'FIRST', value: '${{service.target.host}}' },
        { key: 'SECOND', value: 'x${{service.target}}' },
      ],
    })
    const before = (await server.api('GET', '/services/target')).body
    for (const query of ['', '?force=false', '?force=0']) {
      const answer = await server.api('DELETE', `/services/target${query}`)
      expect(answer).toMatchObject(refusal(409, 'conflict'))
      expect(answer.body.error.message).toMatch(/FIRST of service api, SECOND of service api.*force=true/)
    }
    const renamed = await server.api('PATCH', '/services/target', { name: 'goal', branch: 'x' })
    expect(renamed).toMatchObject(refusal(409, 'conflict'))
    expect(renamed.body.error.message).toMatch(/FIRST of service api, SECOND of service api/)
    expect((await server.api('GET', '/services/target')).body).toEqual(before)
    expect((await server.api('PATCH', '/services/target', { name: 'target', branch: 'x' })).status).toBe(200)
  })

  it('is deleted if forced, and can no longer be referred to', async () => {
    // This server's engine never answers, so that a deletion stays under way.
    expect((await server.api('DELETE', '/services/target?force=true')).status).toBe(502)
    const answer = await save('${{service.target.host}}')
    expect(answer).toMatchObject(refusal(400, 'invalid_request'))
    expect(answer.body.error.message).toMatch(/production has no service target/)
    expect((await server.api('DELETE', '/services/target')).status).toBe(502)
  })

  it.each(['force=maybe', 'force=2', 'Force=true'])(
    'is not deleted with another query: %s',
    async (query) => {
      expect(await server.api('DELETE', `/services/web?${query}`)).toMatchObject(
        refusal(400, 'invalid_request'),
      )
    },
  )
})

describe("references in a group's variables", () => {
  let made = 0
  /** The group of one test, and a service that is linked to nothing. */
  let name: string
  let service: string

  beforeEach(async () => {
    name = `group-${++made}`
    service = `service-${made}`
    await server.api('POST', '/env-groups', { name, vars: [{ key: 'A', value: '1' }] })
    await server.api('POST', '/services', { name: service })
  })

  function link(ref: string): ReturnType<TestServer['api']> {
    return server.api('POST', `/services/${service}/env-groups`, { group: ref })
  }

  /** Everything that a refused request must leave as it was. */
  async function everything(): Promise<unknown> {
    const paths = ['/env-groups', '/services', `/services/${service}/env`]
    return Promise.all(paths.map(async (path) => (await server.api('GET', path)).body))
  }

  it('must resolve for each linked service, when the group is saved and when it is linked', async () => {
    await link(name)
    const before = await everything()
    const bad: [string, RegExp][] = [
      ['${{service.nobody.host}}', /production has no service nobody/],
      ['${{datastore.nobody}}', /production has no datastore nobody/],
      [`\${{service.${service}.host}}`, /may not refer to itself/],
    ]
    for (const [value, message] of bad) {
      const put = await server.api('PUT', `/env-groups/${name}/env`, { vars: [{ key: 'R', value }] })
      const patch = await server.api('PATCH', `/env-groups/${name}/env`, { set: { R: value } })
      for (const [answer, field] of [
        [put, 'vars'],
        [patch, 'set'],
      ] as const) {
        expect(answer).toMatchObject(refusal(400, 'invalid_request'))
        expect(answer.body.error.message).toMatch(message)
        expect(answer.body.error.message).toMatch(new RegExp(`^${field}: R of ${service}: .*\\$\\$\\{\\{`))
      }
      const loose = `loose-${crypto.randomUUID().slice(0, 8)}`
      const created = await server.api('POST', '/env-groups', { name: loose, vars: [{ key: 'R', value }] })
      expect(created.status).toBe(201)
      const linked = await link(loose)
      expect(linked).toMatchObject(refusal(400, 'invalid_request'))
      expect(linked.body.error.message).toMatch(/^group: R of /)
      const patched = await server.api('PATCH', `/services/${service}`, { env: [], env_groups: [loose] })
      expect(patched.body.error.message).toMatch(/^env_groups: R of /)
      await server.api('DELETE', `/env-groups/${loose}`)
    }
    expect(await everything()).toEqual(before)
  })

  it('that a variable of the service hides need not resolve, until they are no longer hidden', async () => {
    await server.api('PUT', `/services/${service}/env`, { vars: [{ key: 'R', value: 'own' }] })
    const vars = [{ key: 'R', value: '${{service.nobody}}' }]
    await server.api('PUT', `/env-groups/${name}/env`, { vars })
    expect((await link(name)).status).toBe(200)
    const answer = await server.api('PUT', `/services/${service}/env`, { vars: [] })
    expect(answer).toMatchObject(refusal(400, 'invalid_request'))
    expect(answer.body.error.message).toMatch(/production has no service nobody/)
    expect((await server.api('DELETE', `/services/${service}/env-groups/${name}`)).status).toBe(200)
  })

  it('prevent the deletion of the service that they name while a service is linked', async () => {
    const target = `${service}-target`
    await server.api('POST', '/services', { name: target })
    const vars = [{ key: 'R', value: `\${{service.${target}.host}}` }]
    await server.api('PUT', `/env-groups/${name}/env`, { vars })
    await link(name)
    const answer = await server.api('DELETE', `/services/${target}`)
    expect(answer).toMatchObject(refusal(409, 'conflict'))
    expect(answer.body.error.message).toContain(`R of env group ${name}`)
    await server.api('DELETE', `/services/${service}/env-groups/${name}`)
    // This server's engine never answers, so that a deletion stays under way.
    expect((await server.api('DELETE', `/services/${target}`)).status).toBe(502)
  })
})

it('the relations of a service are what it refers to, and what refers to it, also through a group', async () => {
  await server.api('POST', '/env-groups', {
    name: 'shared',
    vars: [
      { key: 'HOME', value: '${{service.shop.url}}' },
      { key: 'COVERED', value: '${{service.shop.host}}' },
    ],
  })
  for (const name of ['shop', 'cart', 'lonely']) await server.api('POST', '/services', { name })
  await server.api('PATCH', '/services/cart', {
    env: [
      { key: 'COVERED', value: 'x' },
      { key: 'A', value: '${{service.shop.host}}:${{service.shop.port}}' },
    ],
    env_groups: ['shared'],
  })
  const relations = async (name: string) => (await server.api('GET', `/services/${name}/relations`)).body
  const shop = (await server.api('GET', '/services/shop')).body.id
  const cart = (await server.api('GET', '/services/cart')).body.id
  expect(await relations('cart')).toEqual({
    uses: [{ kind: 'service', id: shop, name: 'shop', keys: ['A', 'HOME'] }],
    used_by: [],
  })
  expect(await relations('shop')).toEqual({
    uses: [],
    used_by: [{ kind: 'service', id: cart, name: 'cart', keys: ['A', 'HOME'] }],
  })
  expect(await relations('lonely')).toEqual({ uses: [], used_by: [] })
})
