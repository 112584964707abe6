import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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
    ['an unknown property', '${{service.web.hosts}}', /a service has hostport, host, port, url, env\.KEY/],
    ['a property of a datastore', '${{datastore.db.hosts}}', /a datastore has url, host, port, database/],
    ['an unknown kind', '${{group.web.host}}', /begins no reference/],
    ['no end', 'x${{service.web.host', /without the }}/],
    ['nothing', '${{}}', /begins no reference/],
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

  it('never shows the values that it leads to', async () => {
    await server.api('POST', '/services', {
      name: 'through',
      env: [{ key: 'V', value: '${{service.web.env.TOKEN}}' }],
    })
    await save('${{service.through.env.V}}')
    const answer = await save('${{service.through.env.V}}${{service.nobody}}')
    expect(answer.body.error.message).not.toContain('t0ken')
    expect(server.logs).not.toContain('t0ken')
  })

  it('that closes a circle is refused, by a create as by a change', async () => {
    await server.api('POST', '/services', { name: 'ring', env: [{ key: 'V', value: '1' }] })
    await save('${{service.ring.env.V}}')
    const answer = await server.api('PATCH', '/services/ring/env', { set: { V: '${{service.api.env.R}}' } })
    expect(answer).toMatchObject(refusal(400, 'invalid_request'))
    expect(answer.body.error.message).toMatch(
      /^set: V of ring -> R of api -> V of ring: goes round in a circle/,
    )
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

  it('goes when that is forced, and can no longer be referred to', async () => {
    // The engine of this server never answers, so that a deletion that is begun goes on.
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
