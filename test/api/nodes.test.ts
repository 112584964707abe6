import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readEvents } from '../support/sse.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

function refused(status: number, code: string, message: RegExp) {
  return { status, body: { error: { code, message: expect.stringMatching(message) } } }
}

const own = async () => (await server.api('GET', '/nodes')).body[0] as { id: string; name: string }

describe('a server of one node', () => {
  test('lists its own, named after the host', async () => {
    const { status, body } = await server.api('GET', '/nodes')
    expect([status, body.length]).toEqual([200, 1])
    expect(body[0]).toMatchObject({
      ...{
        id: expect.stringMatching(/^nod-[0-9a-f]{20}$/),
        name: expect.stringMatching(/^[a-z][a-z0-9-]*$/),
      },
      ...{
        status: 'ready',
        reason: null,
        progress: null,
        availability: 'active',
        roles: ['server', 'entry'],
      },
      ...{ address: null, labels: {}, instances: 0, bound: [] },
      ...{ last_seen_at: expect.any(String), created_at: expect.any(String) },
    })
    const { id, name } = body[0]
    for (const named of [id, name]) expect((await server.api('GET', `/nodes/${named}`)).body.id).toBe(id)
    expect(await server.api('GET', '/nodes/nowhere')).toMatchObject(
      refused(404, 'not_found', /^there is no node nowhere$/),
    )
  })

  test('has it renamed and labeled, and tells that', async () => {
    const { id } = await own()
    const left = new AbortController()
    const response = await fetch(`${server.url}/api/v1/events`, {
      headers: { authorization: `Bearer ${server.token}` },
      signal: left.signal,
    })
    const seen: string[] = []
    void (async () => {
      for await (const { data } of readEvents(response)) seen.push(data)
    })().catch(() => {})
    const changed = await server.api('PATCH', `/nodes/${id}`, { name: 'first', labels: { disk: 'ssd' } })
    expect(changed).toMatchObject({ status: 200, body: { name: 'first', labels: { disk: 'ssd' } } })
    await waitFor(() => seen.some((data) => data.includes(`"kind":"node","id":"${id}"`)), 'the change')
    left.abort()
    const { body } = await server.api('GET', '/search?q=first')
    expect(body).toContainEqual({ kind: 'node', id, name: 'first', holder: null, environment: null })
  })

  test.each<[object, RegExp]>([
    [{ name: 'Not a name' }, /^name: must be a DNS label/],
    [{ availability: 'pause' }, /^availability: must be one of active, drain/],
    [{ labels: { 'Not one': 'x' } }, /^labels/],
    [{ labels: { disk: 7 } }, /^labels.disk: must be a string/],
    [{ role: 'entry' }, /^role: unknown field/],
  ])('refuses the change %j', async (patch, message) => {
    const answer = await server.api('PATCH', `/nodes/${(await own()).id}`, patch)
    expect(answer).toMatchObject(refused(400, 'invalid_request', message))
  })

  test('neither drains nor removes it', async () => {
    const { id, name } = await own()
    expect(await server.api('PATCH', `/nodes/${id}`, { availability: 'drain' })).toMatchObject(
      refused(409, 'conflict', new RegExp(`^${name} is the last node that is ready and active`)),
    )
    for (const query of ['', '?lost=true'])
      expect(await server.api('DELETE', `/nodes/${id}${query}`)).toMatchObject(
        refused(409, 'conflict', /the server itself runs on .*: it cannot be removed/),
      )
  })

  test('says what its host does', async () => {
    const { id } = await own()
    const { status, body } = await server.api('GET', `/nodes/${id}/metrics`)
    expect([status, Object.keys(body)]).toEqual([200, ['at', 'host', 'containers']])
  })

  test.each([{ role: 'manager' }, { role: 'entry' }, { managers: 3 }, { nodes: ['worker-1'] }])(
    'lets nothing join by %j',
    async (asked) => {
      const [field] = Object.keys(asked)
      expect(await server.api('POST', '/nodes', asked)).toMatchObject(
        refused(409, 'conflict', new RegExp(`^${field}: more than one .* is not built yet: (let|ask)`)),
      )
    },
  )

  test('is its only entry', async () => {
    const { id } = await own()
    expect((await server.api('PATCH', `/nodes/${id}`, { entry: true })).status).toBe(200)
    expect(await server.api('PATCH', `/nodes/${id}`, { entry: false })).toMatchObject(
      refused(409, 'conflict', /^entry: the server's own node is the entry: another one is not built yet$/),
    )
  })

  test('places what has data on it', async () => {
    const { id, name } = await own()
    const [wiki, web] = await Promise.all([
      server.api('POST', '/services', { name: 'wiki', disk_mount_path: '/data' }),
      server.api('POST', '/services', { name: 'web', placement: { nodes: [id] } }),
    ])
    expect(wiki.body).toMatchObject({ node: id, node_name: name, placement: null })
    expect(web.body).toMatchObject({ node: null, placement: { nodes: [name], labels: null, spread: true } })
    expect(await server.api('POST', '/services', { name: 'no', placement: { nodes: ['x'] } })).toMatchObject(
      refused(404, 'not_found', /^placement: there is no node x$/),
    )
    const { body } = await server.api('POST', '/datastores', { kind: 'keyvalue', name: 'cache', node: name })
    expect(body).toMatchObject({ node: id, node_name: name })
    expect((await server.api('GET', `/nodes/${id}`)).body.bound).toMatchObject([
      { kind: 'datastore', name: 'cache' },
      { kind: 'service', name: 'wiki' },
    ])
  })
})
