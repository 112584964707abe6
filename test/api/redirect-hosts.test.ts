import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'

let server: TestServer

beforeAll(async () => {
  const flags = ['--base-domain', 'apps.example.com', '--dashboard-host', 'panel.example.net']
  server = await startServer({ flags: [...flags, '--dns-resolvers', '127.0.0.1:1'] })
})
afterAll(() => server.stop())

function refused(status: number, code: string, message: RegExp) {
  return { status, body: { error: { code, message: expect.stringMatching(message) } } }
}

const create = (host: string, to: string, more: object = {}) =>
  server.api('POST', '/redirects', { host, to, ...more })

/** What the data plane answers a GET of a path at a host: the status and where it redirects to. */
function lead(host: string, path = '/a?b=c'): Promise<[number, string | undefined]> {
  const { promise, resolve, reject } = Promise.withResolvers<[number, string | undefined]>()
  request({ host: '127.0.0.1', port: server.httpPort, path, headers: { host } }, (answer) =>
    resolve([answer.resume().statusCode!, answer.headers.location]),
  )
    .on('error', reject)
    .end()
  return promise
}

describe('a redirect host', () => {
  test('leads all its requests to another address, as it is now, until it is removed', async () => {
    const { status, body } = await create('Brand.Example.', 'https://www.brand.example')
    expect([status, body]).toEqual([
      201,
      {
        ...{ id: expect.stringMatching(/^rdr-[0-9a-f]{20}$/), host: 'brand.example' },
        ...{ to: 'https://www.brand.example/', keep_path: true, status: 308 },
        ...{ created_at: expect.any(String), updated_at: expect.any(String) },
      },
    ])
    expect(await lead('brand.example')).toEqual([308, 'https://www.brand.example/a?b=c'])
    const path = `/redirects/${body.id}`
    const shop = { to: 'https://shop.example/brand/?from=old', keep_path: false, status: 302 }
    expect(await server.api('PATCH', path, shop)).toMatchObject({ status: 200, body: shop })
    expect(await lead('brand.example')).toEqual([302, 'https://shop.example/brand/?from=old'])
    await server.api('PATCH', path, {
      host: 'old.example',
      to: 'https://shop.example/brand/',
      keep_path: true,
    })
    expect(await lead('old.example')).toEqual([302, 'https://shop.example/brand/a?b=c'])
    expect(await lead('brand.example')).toEqual([404, undefined])
    expect((await server.api('GET', '/redirects/old.example')).body).toMatchObject({ id: body.id })
    expect((await server.api('GET', '/redirects')).body).toMatchObject([{ host: 'old.example' }])
    expect((await server.api('DELETE', path)).status).toBe(204)
    expect(await lead('old.example')).toEqual([404, undefined])
    expect((await server.api('GET', path)).status).toBe(404)
  })

  test('may end with slashes, and then leads on with one', async () => {
    for (const to of ['https://x.example//', 'https://x.example/y//']) {
      expect((await create('slashes.example', to)).status).toBe(201)
      expect(await lead('slashes.example')).toEqual([308, `${to.slice(0, -2)}/a?b=c`])
      await server.api('DELETE', '/redirects/slashes.example')
    }
  })

  test('has its certificate like a custom domain', async () => {
    await create('certified.example', 'https://elsewhere.example/x')
    const { body } = await server.api('GET', '/certificates')
    expect(body).toContainEqual(
      expect.objectContaining({
        ...{ host: 'certified.example', service: null, redirects_to: 'https://elsewhere.example/x' },
      }),
    )
    await server.api('DELETE', '/redirects/certified.example')
  })

  test.each<[object, RegExp]>([
    [{ host: 'a_b.example' }, /^host: /],
    [{ host: '*.example.org' }, /^host: wildcards/],
    [{ to: '/path' }, /^to: must be an absolute http or https URL$/],
    [{ to: 'ftp://x.example/' }, /^to: must be an absolute http or https URL$/],
    [{ to: 'https://me:secret@x.example/' }, /^to: must have no user name and no password$/],
    [{ to: 'https://x.example/?' }, /^to: has a query or a fragment/],
    [{ to: 'https://x.example/#' }, /^to: has a query or a fragment/],
    [{ to: 'https://x.example/?a=b' }, /^to: has a query or a fragment.*keep_path to false$/],
    [{ to: 'http://Self.example:8080/x' }, /^to: leads back to self\.example/],
    [{ status: 304 }, /^status: /],
    [{ keep_path: 'no' }, /^keep_path: /],
  ])('that cannot be one is refused: %j', async (wrong, message) => {
    const body = { host: 'self.example', to: 'https://x.example', ...wrong }
    expect(await server.api('POST', '/redirects', body)).toMatchObject(
      refused(400, 'invalid_request', message),
    )
  })

  test('is no part of a circle', async () => {
    await create('one.example', 'https://two.example')
    await create('two.example', 'https://three.example/x')
    const circle = refused(
      ...([
        400,
        'invalid_request',
        /^to: leads back to three\.example \(three.* -> one.* -> two.* -> three/,
      ] as const),
    )
    expect(await create('three.example', 'https://one.example')).toMatchObject(circle)
    expect(await create('three.example', 'https://four.example')).toMatchObject({ status: 201 })
    const back = { to: 'https://one.example./' }
    expect(await server.api('PATCH', '/redirects/three.example', back)).toMatchObject(circle)
    for (const host of ['one', 'two', 'three']) await server.api('DELETE', `/redirects/${host}.example`)
  })
})

test('a host has one owner: the dashboard, a service, or a redirect', async () => {
  const to = 'https://elsewhere.example'
  const conflict = (message: RegExp) => refused(409, 'conflict', message)
  await server.api('POST', '/services', { name: 'web', custom_domains: ['web.example'] })
  expect(await create('panel.example.net', to)).toMatchObject(conflict(/^host: .* is the dashboard's host$/))
  expect(await create('web.example', to)).toMatchObject(conflict(/^host: .* is in use by service web$/))
  expect(await create('x.apps.example.com', to)).toMatchObject(
    conflict(/is under the domain apps\.example\.com/),
  )
  expect(await create('mine.example', to)).toMatchObject({ status: 201 })
  expect(await create('mine.example', to)).toMatchObject(conflict(/^host: .* is in use by a redirect host$/))
  await create('other.example', to)
  expect(await server.api('PATCH', '/redirects/other.example', { host: 'mine.example' })).toMatchObject(
    conflict(/^host: .* is in use by a redirect host$/),
  )
  const taken = conflict(/mine\.example is in use by a redirect host$/)
  expect(await server.api('POST', '/services/web/domains', { domain: 'mine.example' })).toMatchObject(taken)
  expect(
    await server.api('POST', '/services', { name: 'x', custom_domains: ['mine.example'] }),
  ).toMatchObject(taken)
  // Under a domain that waits for DNS, a redirect host comes before services that are created later.
  await create('shop.later.example', to)
  await server.api('POST', '/domains', { name: 'later.example' })
  expect(await server.api('POST', '/services', { name: 'shop' })).toMatchObject(
    conflict(/^name: shop\.later\.example is a redirect host$/),
  )
  await create('web.soon.example', to)
  expect(await server.api('POST', '/domains', { name: 'soon.example' })).toMatchObject(
    conflict(/service web would get the host web\.soon\.example, which is a redirect host$/),
  )
})
