import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'

let server: TestServer

beforeAll(async () => {
  server = await startServer({ flags: ['--relational-image', 'postgres:17', '--default-memory-mb', '256'] })
  await waitFor(() => server.logs.includes('the engine does not answer'), 'the engine to be missed')
})

afterAll(async () => {
  await server?.stop()
})

function post(input: object) {
  return server.api('POST', '/datastores', input)
}

describe('a new datastore', () => {
  test('has its own credentials, derived from its name', async () => {
    const { status, body } = await post({ kind: 'relational', name: 'my-app' })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      kind: 'relational',
      version: '17',
      environment: 'production',
      database: 'my_app',
      username: 'my_app',
      internal_host: 'my-app',
      internal_port: 5432,
      host_port: null,
      external_url: null,
      connect_command: null,
      internal_tls_port: null,
      host_tls_port: null,
      ca_certificate: null,
      memory_limit_mb: 0,
      cpu_limit: 0,
      backup_schedule: null,
      backup_retention: 7,
    })
    expect(body.password).toMatch(/^[0-9a-f]{48}$/)
    expect(body.internal_url).toBe(`postgresql://my_app:${body.password}@my-app:5432/my_app`)
  })

  test('fails while there is no engine to create it, and says so', async () => {
    const { status, body } = await post({ kind: 'keyvalue', name: 'cache' })
    expect(status).toBe(201)
    expect(body).toMatchObject({ status: 'failed', database: null, username: 'default' })
    expect(body.error).toContain('no-engine.sock')
  })

  test('uses the database, user, version and limits that it is given', async () => {
    const given = {
      database: 'app',
      username: 'owner',
      version: '16.4',
      memory_limit_mb: 64,
      cpu_limit: 0.126,
    }
    const { body } = await post({ kind: 'relational', name: 'given', ...given })
    expect(body).toMatchObject({ ...given, cpu_limit: 0.13 })
  })

  test.each([
    [{ name: 'x' }, 'kind'],
    [{ kind: 'document', name: 'x' }, 'kind'],
    [{ kind: 'relational', name: 'Upper' }, 'name'],
    [{ kind: 'relational', name: 'dbs-4f1d0c9a7b3e5d2f6a80' }, 'name'],
    [{ kind: 'relational', name: 'x', version: 'a b' }, 'version'],
    [{ kind: 'relational', name: 'x', version: '../17' }, 'version'],
    [{ kind: 'relational', name: 'x', database: 'a-b' }, 'database'],
    [{ kind: 'relational', name: 'x', database: "a'; --" }, 'database'],
    [{ kind: 'relational', name: 'x', username: 'pg_admin' }, 'username'],
    [{ kind: 'keyvalue', name: 'x', database: 'app' }, 'database'],
    [{ kind: 'keyvalue', name: 'x', username: 'app' }, 'username'],
    [{ kind: 'relational', name: 'x', memory_limit_mb: 15 }, 'memory_limit_mb'],
    [{ kind: 'relational', name: 'x', memory_limit_mb: 1.5 }, 'memory_limit_mb'],
    [{ kind: 'relational', name: 'x', cpu_limit: 513 }, 'cpu_limit'],
    [{ kind: 'relational', name: 'x', backup_schedule: 'daily' }, 'backup_schedule'],
    [{ kind: 'relational', name: 'x', backup_retention: 0 }, 'backup_retention'],
  ])('is refused as %j by the field %s', async (input, field) => {
    const { status, body } = await post(input)
    expect(status).toBe(400)
    expect(body.error.code).toBe('invalid_request')
    expect(body.error.message).toMatch(new RegExp(`^${field}: `))
    expect((await server.api('GET', '/datastores/x')).status).toBe(404)
  })

  test('in a missing environment is 404', async () => {
    expect((await post({ kind: 'relational', name: 'x', environment: 'nowhere' })).status).toBe(404)
    expect((await server.api('GET', '/datastores?environment=nowhere')).status).toBe(404)
  })

  test('shares its name with no service and no other datastore of the environment', async () => {
    await server.api('POST', '/services', { name: 'web' })
    const service = await post({ kind: 'keyvalue', name: 'web' })
    expect(service).toMatchObject({ status: 409 })
    expect(service.body.error.message).toMatch(/^name: web is in use by service srv-/)
    expect((await post({ kind: 'keyvalue', name: 'cache' })).status).toBe(409)
    expect((await server.api('POST', '/services', { name: 'cache' })).status).toBe(409)
    expect((await server.api('PATCH', '/services/web', { name: 'cache' })).status).toBe(409)
    await server.api('POST', '/environments', { name: 'other' })
    expect((await post({ kind: 'keyvalue', name: 'web', environment: 'other' })).status).toBe(201)
  })
})

describe('references to a datastore', () => {
  test('are resolved in each of its properties, and refused where it has none', async () => {
    const ref = (property: string) => [{ key: 'A', value: `\${{datastore.${property}}}` }]
    for (const property of [
      'my-app',
      'my-app.url',
      'my-app.host',
      'my-app.port',
      'cache.password',
      'cache.username',
    ])
      expect((await server.api('PUT', '/services/web/env', { vars: ref(property) })).status).toBe(200)
    for (const property of ['cache.database', 'my-app.color', 'nobody.url', 'web.url']) {
      const { status, body } = await server.api('PUT', '/services/web/env', { vars: ref(property) })
      expect(status).toBe(400)
      expect(body.error.message).toContain('$${{')
    }
  })

  test('keep it from being deleted by accident', async () => {
    await server.api('PUT', '/services/web/env', { vars: [{ key: 'DB', value: '${{datastore.my-app}}' }] })
    const { status, body } = await server.api('DELETE', '/datastores/my-app')
    expect(status).toBe(409)
    expect(body.error.message).toBe(
      'datastore my-app is referred to by DB of service web: change them first, or repeat with force=true',
    )
  })
})

describe('backups', () => {
  test('need a datastore that answers', async () => {
    expect((await server.api('GET', '/datastores/cache/backups')).body).toEqual([])
    const { status, body } = await server.api('POST', '/datastores/cache/backups')
    expect(status).toBe(409)
    expect(body.error.message).toBe(
      'datastore cache is failed: it can only be backed up while it is available',
    )
    expect((await server.api('POST', '/datastores/nobody/backups')).status).toBe(404)
    const unknown = '/datastores/cache/backups/bak-00000000000000000000'
    for (const [method, path] of [
      ['GET', unknown],
      ['DELETE', unknown],
      ['GET', `${unknown}/download`],
      ['POST', `${unknown}/restore`],
    ] as const)
      expect((await server.api(method, path)).status).toBe(404)
    expect((await server.api('POST', `${unknown}/restore`, { name: 'Upper' })).status).toBe(400)
  })

  test('are scheduled and kept as requested, and no longer when the schedule is removed', async () => {
    const given = { backup_schedule: '0 3 * * *', backup_retention: 3 }
    const { body } = await post({ kind: 'keyvalue', name: 'kept', ...given })
    expect(body).toMatchObject(given)
    for (const bad of [{ backup_schedule: '61 * * * *' }, { backup_retention: 1.5 }])
      expect((await server.api('PATCH', '/datastores/kept', bad)).status).toBe(400)
    await server.api('PATCH', '/datastores/kept', { backup_schedule: null })
    expect((await server.api('GET', '/datastores/kept')).body).toMatchObject({
      backup_schedule: null,
      backup_retention: 3,
    })
  })
})

describe('an upgrade', () => {
  test.each(['17', '16', 'latest', '17.9', '', 'a b'])('to %j is refused', async (version) => {
    const { status, body } = await server.api('POST', '/datastores/my-app/upgrade', { version })
    expect(status).toBe(400)
    expect(body.error.message).toMatch(/^version: /)
  })

  test('from a version that does not name its major version is refused, with an alternative', async () => {
    await post({ kind: 'relational', name: 'newest', version: 'latest' })
    const { status, body } = await server.api('POST', '/datastores/newest/upgrade', { version: '18' })
    expect(status).toBe(400)
    expect(body.error.message).toMatch(
      /^version: .* has version latest, .*create a datastore with the version that you want/,
    )
  })

  test('needs a datastore that answers', async () => {
    const { status } = await server.api('POST', '/datastores/my-app/upgrade', { version: '18' })
    expect(status).toBe(409)
  })
})

describe('while the engine is away', () => {
  test('limits of one that was not created yet are saved for when it is', async () => {
    const { status, body } = await server.api('PATCH', '/datastores/cache', { memory_limit_mb: 128 })
    expect(status).toBe(200)
    expect(body).toMatchObject({ memory_limit_mb: 128, status: 'failed' })
    expect(body.error).toContain('no-engine.sock')
  })

  test('a deleted one stays until it can be removed, and accepts no changes', async () => {
    const { status, body } = await server.api('DELETE', '/datastores/given')
    expect(status).toBe(502)
    expect(body.error.message).toContain('datastore given is still being deleted')
    expect((await server.api('GET', '/datastores/given')).body.status).toBe('deleting')
    expect((await server.api('PATCH', '/datastores/given', { cpu_limit: 1 })).status).toBe(409)
  })
})
