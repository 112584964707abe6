import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { databaseOf } from '../support/database.ts'
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
    [{ public_address: 'fd00::1' }, /^public_address: must be an IPv4 address/],
    [{ public_address: 'example.com' }, /^public_address: must be an IPv4 address/],
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

  test('has no entry for what it serves on the loopback alone', async () => {
    const database = databaseOf(server.dataDirectory)
    const id = 'nod-00000000000000000009'
    database.exec(
      `INSERT INTO nodes (id, name, status, joined_at, created_at) VALUES ('${id}', 'far', 'ready', 0, 0)`,
    )
    const refusals = await Promise.all([
      server.api('PATCH', `/nodes/${id}`, { entry: true }),
      server.api('POST', '/nodes', { role: 'entry' }),
    ])
    database.exec(`DELETE FROM nodes WHERE id = '${id}'`)
    database.close()
    const reason = `--http-listen has the server serve on 127.0.0.1 alone, but an entry serves port ${server.httpPort} for everybody`
    expect(refusals).toMatchObject(
      ['entry', 'role'].map((field) => refused(409, 'conflict', new RegExp(`^${field}: ${reason}`))),
    )
  })

  test.each<[object, RegExp]>([
    [{ role: 'manager' }, /^role: let the machine join as a worker/],
    [{ nodes: ['worker-1'] }, /^nodes: say with managers: 3/],
    [{ managers: 2 }, /^managers: with two, the loss of either one/],
    [{ managers: 3 }, /^managers: three need two other nodes: let machines join first$/],
  ])('lets nothing join by %j', async (asked, reason) => {
    expect(await server.api('POST', '/nodes', asked)).toMatchObject(refused(409, 'conflict', reason))
  })

  test('lets nothing join, and ignores no field, with managers', async () => {
    expect(await server.api('POST', '/nodes', { managers: 1, role: 'entry' })).toMatchObject(
      refused(400, 'invalid_request', /^role: is of a machine that joins/),
    )
  })

  test('is the only manager', async () => {
    const answer = await server.api('POST', '/nodes', { managers: 1 })
    expect(answer).toMatchObject({ status: 200, body: [{ roles: ['server', 'entry'], manager: null }] })
    const [event] = (await server.api('GET', '/audit-events?action=node.managers_set')).body
    expect(event).toMatchObject({ resource: null, changes: [`managers: ${(await own()).name}`] })
  })

  test('always serves by it', async () => {
    const { id } = await own()
    expect((await server.api('PATCH', `/nodes/${id}`, { entry: true })).status).toBe(200)
    expect(await server.api('PATCH', `/nodes/${id}`, { entry: false })).toMatchObject(
      refused(409, 'conflict', /^entry: the server's own node always serves requests/),
    )
    expect(await server.api('PATCH', `/nodes/${id}`, { public_address: '203.0.113.8' })).toMatchObject(
      refused(409, 'conflict', /^public_address: .* are set with --public-ip$/),
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

describe('another node', () => {
  const NODE = 'nod-00000000000000000001'
  let several: TestServer
  beforeAll(async () => {
    several = await startServer({
      serviceHost: '0.0.0.0',
      flags: ['--public-ip', '203.0.113.7,2001:db8::7', '--base-domain', 'example.com'],
    })
    addNode('ready')
  })
  afterAll(() => several.stop())

  /** Records a node that no machine is; the server is not asked for it before. */
  function addNode(status: string): void {
    const database = databaseOf(several.dataDirectory)
    database.exec(`INSERT OR REPLACE INTO nodes (id, name, swarm_id, address, status, joined_at, created_at)
      VALUES ('${NODE}', 'worker-1', 'other', '10.0.0.2', '${status}', 0, 0)`)
    database.close()
  }
  const patch = (fields: object) => several.api('PATCH', `/nodes/${NODE}`, fields)
  const addresses = (records: { name: string; value: string }[], name: string) =>
    records.filter((each) => each.name === name).map(({ value }) => value)

  test('becomes an entry while it is ready, and DNS names it', async () => {
    expect((await several.api('GET', `/nodes/${NODE}`)).body).toMatchObject({
      roles: [],
      public_address: null,
    })
    for (const status of ['unreachable', 'down']) {
      addNode(status)
      expect(await patch({ entry: true })).toMatchObject(
        refused(409, 'conflict', new RegExp(`^entry: worker-1 is ${status}`)),
      )
    }
    addNode('ready')
    expect(await patch({ entry: true })).toMatchObject({ status: 200, body: { roles: ['entry'] } })
    const [{ records }] = (await several.api('GET', '/domains')).body
    const both = ['203.0.113.7', '2001:db8::7', '10.0.0.2']
    expect(addresses(records, '*.example.com')).toEqual(both)
    expect(addresses(records, 'example.com')).toEqual(both)
    const [environment] = (await several.api('GET', '/environments')).body
    expect(addresses(environment.dns[0].records, environment.dns[0].wildcard)).toEqual(both)

    expect(await patch({ public_address: '198.51.100.2' })).toMatchObject({
      body: { public_address: '198.51.100.2', address: '10.0.0.2' },
    })
    const [now] = (await several.api('GET', '/domains')).body
    expect(addresses(now.records, '*.example.com')).toEqual(['203.0.113.7', '2001:db8::7', '198.51.100.2'])
  })

  test('leaves the dashboard to the server', async () => {
    const [{ records }] = (await several.api('GET', '/domains')).body
    const host = records
      .map(({ name }: { name: string }) => name)
      .find((name: string) => /^[^*].*\.example/.test(name))
    expect(addresses(records, host)).toEqual(['203.0.113.7', '2001:db8::7'])
  })

  test('stops being one whatever its status', async () => {
    addNode('ready')
    await patch({ entry: true })
    const database = databaseOf(several.dataDirectory)
    database.exec(`UPDATE nodes SET status = 'down' WHERE id = '${NODE}'`)
    database.close()
    expect(await patch({ entry: true })).toMatchObject({ status: 200 })
    expect(await patch({ entry: false, public_address: null })).toMatchObject({
      status: 200,
      body: { roles: [] },
    })
    const [{ records }] = (await several.api('GET', '/domains')).body
    expect(records.map(({ value }: { value: string }) => value)).not.toContain('10.0.0.2')
  })

  test('is no entry beyond what the networks have addresses for', async () => {
    addNode('ready')
    const database = databaseOf(several.dataDirectory)
    const others = Array.from({ length: 11 }, (_, index) => `nod-1000000000000000000${index}`)
    for (const id of others)
      database.exec(
        `INSERT INTO nodes (id, name, status, joined_at, created_at) VALUES ('${id}', '${id}', 'ready', 0, 0)`,
      )
    const reason =
      /there can be 13 nodes and entries together at most, .* there are 13 nodes, 0 of them entries: remove/
    expect([await patch({ entry: true }), await several.api('POST', '/nodes', {})]).toMatchObject([
      refused(409, 'conflict', reason),
      refused(409, 'conflict', reason),
    ])
    database.exec(`DELETE FROM nodes WHERE id = '${others[0]}'`)
    expect(await patch({ entry: true })).toMatchObject({ status: 200, body: { roles: ['entry'] } })
    expect(await several.api('PATCH', `/nodes/${others[1]}`, { entry: true })).toMatchObject(
      refused(409, 'conflict', /there are 12 nodes, 1 of them entries/),
    )
    // What is one already stays one.
    expect(await patch({ entry: true })).toMatchObject({ status: 200 })
    database.exec(`DELETE FROM nodes WHERE id LIKE 'nod-1%'`)
    database.close()
  })
})
