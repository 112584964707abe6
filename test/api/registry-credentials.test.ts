import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'

const PASSWORD = 's3cr3t of the registry'
const BASIC = `Basic ${Buffer.from(`ci:${PASSWORD}`).toString('base64')}`

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

let made = 0
/** The answer that refuses a request with this message. */
function refusal(status: number, code: string, message: RegExp): object {
  return { status, body: { error: { code, message: expect.stringMatching(message) } } }
}

/** Stores a credential with a name of its own. */
async function create(fields: object = {}): Promise<{ id: string; name: string }> {
  const body = { name: `reg-${++made}`, host: 'ghcr.io', username: 'ci', password: PASSWORD, ...fields }
  const answer = await server.api('POST', '/registry-credentials', body)
  expect(answer).toMatchObject({ status: 201 })
  return answer.body
}

const at = (id: string) => `/registry-credentials/${id}`

describe('a registry credential', () => {
  it('is stored, read by id and name, changed and deleted, and never shows its password', async () => {
    const created = await create({ name: 'github', host: 'GHCR.io:443', path_prefix: 'acme' })
    expect(created).toEqual({
      ...{ id: expect.stringMatching(/^reg-[0-9a-f]{20}$/), name: 'github', host: 'ghcr.io' },
      ...{ username: 'ci', path_prefix: 'acme' },
      ...{ created_at: expect.any(String), updated_at: expect.any(String) },
    })
    expect((await server.api('GET', at('github'))).body).toEqual(created)
    expect((await server.api('GET', '/registry-credentials')).body).toContainEqual(created)
    const patch = { username: 'bot', password: 'another secret', path_prefix: null }
    expect((await server.api('PATCH', at('github'), patch)).body).toMatchObject({
      ...{ host: 'ghcr.io', username: 'bot', path_prefix: null },
    })
    expect((await server.api('DELETE', at(created.id))).status).toBe(204)
    expect((await server.api('GET', at(created.id))).status).toBe(404)
    const events = await server.api('GET', '/audit-events?resource=github')
    expect(JSON.stringify(events.body)).not.toMatch(/s3cr3t|another secret/)
    expect(server.logs).not.toMatch(/s3cr3t|another secret/)
  })

  it.each([
    ['index.docker.io', 'docker.io'],
    ['registry-1.docker.io', 'docker.io'],
    ['localhost', 'localhost'],
    ['Registry.Example.com:5000', 'registry.example.com:5000'],
    ['[::1]:5000', '[::1]:5000'],
  ])('for %s is for images of %s', async (host, stored) => {
    expect(await create({ host })).toMatchObject({ host: stored })
  })

  it.each([
    ['host', { host: 'acme' }],
    ['host', { host: 'https://ghcr.io' }],
    ['host', { host: 'ghcr.io/acme' }],
    ['host', { host: '169.254.169.254' }],
    ['username', { username: 'a:b' }],
    ['password', { password: '' }],
    ['path_prefix', { path_prefix: '/acme/' }],
    ['path_prefix', { path_prefix: 'acme:1' }],
    ['name', { name: 'Not a label' }],
  ])('with a %s that cannot be one is refused: %j', async (field, wrong) => {
    const body = { name: 'never', host: 'ghcr.io', username: 'ci', password: PASSWORD, ...wrong }
    const { status, body: answer } = await server.api('POST', '/registry-credentials', body)
    expect([status, answer.error.message]).toEqual([400, expect.stringMatching(`^${field}: `)])
    expect(JSON.stringify(answer)).not.toContain(PASSWORD)
  })

  it('has a name of its own', async () => {
    const { name, id } = await create()
    const again = { name, host: 'quay.io', username: 'x', password: 'y' }
    const inUse = refusal(
      409,
      'conflict',
      new RegExp(`^name: ${name} is in use by registry credential ${id}$`),
    )
    expect(await server.api('POST', '/registry-credentials', again)).toMatchObject(inUse)
    const other = await create()
    expect(await server.api('PATCH', at(other.id), { name })).toMatchObject(inUse)
  })

  it('does not send its password to another host than the one that it was given for', async () => {
    const { id } = await create()
    const moved = await server.api('PATCH', at(id), { host: 'evil.example.com' })
    expect([moved.status, moved.body.error.message]).toEqual([400, expect.stringMatching(/^password: /)])
    const given = { host: 'quay.io', password: 'of quay' }
    expect((await server.api('PATCH', at(id), given)).body.host).toBe('quay.io')
  })
})

describe('a service', () => {
  it('names a registry credential by id or name, and none again', async () => {
    const { id, name } = await create()
    const body = { name: 'naming', image: 'ghcr.io/acme/api:1', deploy: false, registry_credential: id }
    expect((await server.api('POST', '/services', body)).body.registry_credential).toBe(name)
    const patch = (registry_credential: string | null) =>
      server.api('PATCH', '/services/naming', { registry_credential })
    expect((await patch(null)).body.registry_credential).toBeNull()
    expect((await patch(name)).body.registry_credential).toBe(name)
    expect((await patch('')).body.registry_credential).toBeNull()
    expect(await patch('nobody')).toMatchObject(
      refusal(404, 'not_found', /^there is no registry credential nobody$/),
    )
  })

  it('keeps its credential from deletion unless that is forced, and follows its name', async () => {
    const { id, name } = await create()
    await server.api('POST', '/environments', { name: 'staging' })
    const body = { name: 'holder', environment: 'staging', image: 'ghcr.io/a/b', deploy: false }
    await server.api('POST', '/services', { ...body, registry_credential: name })
    const get = async () => (await server.api('GET', '/services/holder?environment=staging')).body
    await server.api('PATCH', at(id), { name: `${name}-renamed` })
    expect(await get()).toMatchObject({ registry_credential: `${name}-renamed` })
    expect(await server.api('DELETE', at(id))).toMatchObject(
      refusal(409, 'conflict', /is named by holder\.staging: .*force=true/),
    )
    expect((await server.api('DELETE', `${at(id)}?force=true`)).status).toBe(204)
    expect(await get()).toMatchObject({ registry_credential: null })
  })

  it('gets it from a blueprint and gives it to one, which refuses a name that nothing has', async () => {
    const { name } = await create()
    const yaml = (credential: string) =>
      `services:\n  - name: drawn\n    image: ghcr.io/acme/api:1\n    registry_credential: ${credential}\n    deploy: false\n`
    const apply = (credential: string) => server.api('POST', '/blueprints/apply', { yaml: yaml(credential) })
    const refused = await apply('nobody')
    expect([refused.status, refused.body.error.details]).toEqual([
      400,
      [
        {
          ...{ line: 4, column: expect.any(Number), path: 'services[0].registry_credential' },
          message: 'there is no registry credential nobody',
        },
      ],
    ])
    expect((await apply(name)).body.actions).toMatchObject([{ action: 'create' }])
    expect((await apply(name)).body.actions).toMatchObject([{ action: 'unchanged' }])
    const exported = await server.api('GET', '/blueprints/export')
    expect(exported.body).toMatch(new RegExp(`registry_credential: ${name}\n`))
  })
})

describe('verifying a credential', () => {
  /** A server on this host that answers as a registry might. */
  async function registry(answer: RequestListener): Promise<string> {
    const fake = createServer(answer)
    fake.listen(0, '127.0.0.1')
    await once(fake, 'listening')
    onTestFinished(() => {
      fake.close()
      fake.closeAllConnections()
    })
    return `127.0.0.1:${(fake.address() as AddressInfo).port}`
  }

  async function verify(host: string, fields: object = {}): Promise<{ ok: boolean; error: string | null }> {
    const { id } = await create({ host, ...fields })
    const { status, body } = await server.api('POST', `${at(id)}/verify`)
    expect(status).toBe(200)
    expect(JSON.stringify(body)).not.toMatch(/s3cr3t|wrong/)
    return body
  }

  const V2 = { 'docker-distribution-api-version': 'registry/2.0' }
  const basic: RequestListener = ({ headers }, response) =>
    headers.authorization === BASIC
      ? response.writeHead(200, V2).end('{}')
      : response.writeHead(401, { ...V2, 'www-authenticate': 'Basic realm="a registry"' }).end()

  it('signs in with the password', async () => {
    expect(await verify(await registry(basic))).toEqual({ ok: true, error: null })
    expect(await verify(await registry(basic), { password: 'wrong' })).toEqual({
      ok: false,
      error: expect.stringMatching(/refuses the user name or the password: correct them$/),
    })
  })

  it('signs in with a token that the token service gives for the password', async () => {
    const asked: string[] = []
    const bearer = ({ url, headers }: IncomingMessage): [number, object, string] => {
      if (url!.startsWith('/token')) {
        asked.push(url!)
        return headers.authorization === BASIC ? [200, {}, '{"token": "given"}'] : [401, {}, '{}']
      }
      if (headers.authorization === 'Bearer given') return [200, V2, '']
      const realm = `Bearer realm="http://${headers.host}/token?x=1",service="the, registry"`
      return [401, { ...V2, 'www-authenticate': realm }, '']
    }
    const host = await registry((request, response) => {
      const [status, headers, text] = bearer(request)
      response.writeHead(status, headers as Record<string, string>).end(text)
    })
    expect(await verify(host)).toEqual({ ok: true, error: null })
    expect(asked).toEqual(['/token?x=1&service=the%2C+registry&account=ci'])
    expect(await verify(host, { password: 'wrong' })).toMatchObject({ ok: false })
  })

  it.each<[string, RequestListener, RegExp]>([
    ['a web server', (_, response) => response.end('<h1>It works</h1>'), /answered 200, not as a registry/],
    [
      'something that redirects',
      (_, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
      /answered 302: redirects are not followed$/,
    ],
    [
      'a realm at a forbidden address',
      (_, response) =>
        response.writeHead(401, { 'www-authenticate': 'Bearer realm="http://169.254.169.254/token"' }).end(),
      /may not be asked: 169\.254\.169\.254 is a link-local/,
    ],
    [
      'a challenge that nobody knows',
      (_, response) => response.writeHead(401, { 'www-authenticate': 'Negotiate' }).end(),
      /does not say how to sign in/,
    ],
    [
      'a token service that talks nonsense',
      ({ url, headers }, response) =>
        url === '/v2/'
          ? response.writeHead(401, { 'www-authenticate': `Bearer realm="http://${headers.host}/t"` }).end()
          : response.end('{"token": "a\\nb"}'),
      /^the token service of \S+ answered 200 without a token$/,
    ],
    ['a server that closes the connection', (request) => request.socket.destroy(), /cannot be reached: /],
  ])('says in one sentence why %s does not accept it', async (_, answer, sentence) => {
    const { ok, error } = await verify(await registry(answer))
    expect(ok).toBe(false)
    expect(error).toMatch(sentence)
    expect(error).not.toMatch(/\n/)
  })
})
