import { connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { databaseOf } from '../support/database.ts'
import { startServer, type ApiAnswer, type TestServer } from '../support/server.ts'
import { refusal } from './account-client.ts'

let server: TestServer

beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

let made = 0
let name: string
/** The service of one test, without a source. */
let service: ApiAnswer['body']

beforeEach(async () => {
  name = `one-${++made}`
  const created = await server.api('POST', '/services', { name })
  service = created.body
})

describe('a service', () => {
  it('is created from a name alone, with every documented field', () => {
    expect(service).toEqual({
      id: expect.stringMatching(/^srv-[0-9a-f]{20}$/) as string,
      ...{ placement: null, node: null, node_name: null, move: null },
      name,
      environment: 'production',
      type: 'web_service',
      runtime: 'auto',
      repo_url: null,
      branch: null,
      root_dir: null,
      dockerfile_path: null,
      image: null,
      build_command: null,
      start_command: null,
      publish_dir: null,
      pre_deploy_command: null,
      health_check_path: null,
      port: null,
      schedule: null,
      disk_mount_path: null,
      disks: [],
      disk_backup_schedule: null,
      disk_backup_retention: 7,
      disk_restore: null,
      disk_kept_volumes: [],
      instances: 1,
      memory_limit_mb: 0,
      cpu_limit: 0,
      apt_packages: [],
      auto_deploy: true,
      compression: false,
      ip_allow_list: null,
      redirects: null,
      maintenance: null,
      rate_limit: null,
      basic_auth: null,
      headers: null,
      session_affinity: false,
      upstream_timeout_seconds: null,
      max_body_mb: null,
      access_log: false,
      max_shutdown_delay_seconds: 30,
      drain_seconds: 30,
      overlap_policy: 'wait',
      watch_paths: null,
      suspended: false,
      custom_domains: [],
      canonical_domain: null,
      registry_credential: null,
      deploy_hook_key: expect.stringMatching(/^[0-9a-f]{40}$/) as string,
      live_deploy_id: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
      updated_at: service.created_at,
      settings_updated_at: service.created_at,
      deploy_hook_path: `/hooks/deploy/${service.id}?key=${service.deploy_hook_key}`,
      env_groups: [],
      hosts: [`${name}.localhost`],
      internal_host: name,
      internal_port: 10_000,
      latest_deploy: null,
      last_run: null,
      state: 'not_deployed',
      url: `http://${name}.localhost:${server.httpPort}`,
    })
  })

  it('is found by its id and by its name, with the environment named, by id or not at all', async () => {
    const paths = [service.id, name].flatMap((ref: string) => [
      `/services/${ref}`,
      `/services/${ref}?environment=production`,
    ])
    for (const path of paths) {
      expect(await server.api('GET', path)).toMatchObject({ status: 200, body: { id: service.id } })
    }
  })

  it.each(['staging', 'env-00000000000000000000', 'Production', 'produc%74ion%00'])(
    'is not found in an environment that does not exist: %s',
    async (environment) => {
      for (const ref of [service.id, name]) {
        const answer = await server.api('GET', `/services/${ref}?environment=${environment}`)
        expect(answer).toMatchObject(refusal(404, 'not_found'))
      }
      expect(await server.api('GET', `/services?environment=${environment}`)).toMatchObject(
        refusal(404, 'not_found'),
      )
    },
  )

  it('is not created in an environment that does not exist', async () => {
    const answer = await server.api('POST', '/services', { name: 'nowhere', environment: 'staging' })
    expect(answer).toMatchObject(refusal(404, 'not_found'))
    expect((await server.api('GET', '/services/nowhere')).status).toBe(404)
  })

  it('is not found by another kind of id, another case or a name that nothing has', async () => {
    const refs = [
      service.id.replace('srv-', 'dep-'),
      service.id.toUpperCase(),
      name.toUpperCase(),
      'nobody',
      '__proto__',
    ]
    for (const ref of refs) {
      expect(await server.api('GET', `/services/${ref}`)).toMatchObject(refusal(404, 'not_found'))
    }
  })

  it('has its name to itself, and the refusal names it', async () => {
    const answer = await server.api('POST', '/services', { name, image: 'busybox:1' })
    expect(answer).toMatchObject(refusal(409, 'conflict'))
    expect(answer.body.error.message).toContain(name)
    const other = await server.api('POST', '/services', { name: `${name}-other` })
    const rename = await server.api('PATCH', `/services/${other.body.id}`, { name, branch: 'next' })
    expect(rename).toMatchObject(refusal(409, 'conflict'))
    expect((await server.api('GET', `/services/${other.body.id}`)).body).toEqual(other.body)
  })

  it('is created by only one of two simultaneous creates with one name', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => server.api('POST', '/services', { name: `race-${made}` })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(7).fill(409)])
  })

  it('is listed with all others by name', async () => {
    const { body } = await server.api('GET', '/services')
    const names = body.map((entry: { name: string }) => entry.name)
    expect(names).toContain(name)
    expect(names).toEqual([...names].sort())
  })

  it.each([
    ['private_service', { internal_port: 10_000 }],
    ['background_worker', { internal_host: null, internal_port: null }],
  ])('that is a %s has no public address', async (type, expected) => {
    const { body } = await server.api('POST', '/services', { name: `${name}-typed`, type })
    expect(body).toMatchObject({ type, url: null, hosts: [], ...expected })
  })

  it('shows the credentials of its repository as *** and keeps them when that comes back', async () => {
    const repository = 'https://ada:s3cret-w0rd@git.example.com/x.git'
    const shown = 'https://***@git.example.com/x.git'
    const patched = await server.api('PATCH', `/services/${name}`, { repo_url: repository })
    expect(patched.body.repo_url).toBe(shown)
    const again = await server.api('PATCH', `/services/${name}`, { repo_url: shown, branch: 'next' })
    expect(again.body).toMatchObject({ repo_url: shown, branch: 'next' })
    const deploy = await server.api('POST', `/services/${name}/deploys`)
    expect(JSON.stringify([deploy.body, server.logs])).not.toContain('s3cret-w0rd')
    for (const hidden of [
      await server.api('PATCH', `/services/${name}`, { repo_url: 'https://***@git.example.com/y.git' }),
      await server.api('POST', '/services', { name: `${name}-copy`, repo_url: shown }),
      await server.api('POST', '/blueprints', { name: `${name}-file`, repo_url: shown }),
      await server.api('GET', `/blueprints/file?repo_url=${encodeURIComponent(shown)}`),
      await server.api('GET', `/git/branches?repo_url=${encodeURIComponent(shown)}`),
      await server.api('POST', '/detect', { repo_url: shown }),
    ])
      expect([hidden.status, hidden.body.error?.message]).toEqual([
        400,
        'repo_url: contains *** in place of a hidden part: write the whole address',
      ])
    const moved = await server.api('PATCH', `/services/${name}`, {
      repo_url: 'https://git.example.com/y.git',
    })
    expect(moved.body.repo_url).toBe('https://git.example.com/y.git')
  })

  it('keeps and shows the address of its repository as git gets it', async () => {
    for (const [repository, shown] of [
      ['HTTPS://Git.Example.com:443//team/x%2Egit', 'https://git.example.com/team/x.git'],
      ['HTTPS://ada:s3cret@Git.Example.com/x', 'https://***@git.example.com/x'],
      ['ssh://g%69t@git.example.com:22/x', 'ssh://git@git.example.com/x'],
    ]) {
      const { status, body } = await server.api('PATCH', `/services/${name}`, { repo_url: repository })
      expect({ status, shown: body.repo_url }).toEqual({ status: 200, shown })
    }
  })

  it('gets a new hook key by rotation, and the path with it', async () => {
    const { status, body } = await server.api('POST', `/services/${name}/deploy-hook/rotate`)
    expect(status).toBe(200)
    expect(body.deploy_hook_key).toMatch(/^[0-9a-f]{40}$/)
    expect(body.deploy_hook_key).not.toBe(service.deploy_hook_key)
    expect(body.deploy_hook_path).toContain(body.deploy_hook_key)
  })

  it('reports its status before it ever ran', async () => {
    const { status, body } = await server.api('GET', `/services/${name}/status`)
    expect({ status, body }).toEqual({
      status: 200,
      body: { state: 'not_deployed', live_deploy_id: null, instances: [] },
    })
  })

  it('that was never live cannot be restarted', async () => {
    expect(await server.api('POST', `/services/${name}/restart`)).toMatchObject(refusal(409, 'conflict'))
  })
})

describe('while the engine does not answer', () => {
  it('settings that only the next deploy reads are saved without mentioning it', async () => {
    const fields = { memory_limit_mb: 64, cpu_limit: 0.5, branch: 'next', port: 80, auto_deploy: false }
    const answer = await server.api('PATCH', `/services/${name}`, fields)
    expect(answer).toMatchObject({ status: 200, body: fields })
  })

  it.each([
    ['PATCH', '', { instances: 3 }, { instances: 3 }],
    ['PATCH', '', { suspended: true }, { suspended: true, state: 'suspended' }],
    ['POST', '/scale', { instances: 0 }, { instances: 0 }],
    ['POST', '/suspend', undefined, { suspended: true }],
  ])('a service that runs nothing is changed anyway: %s%s %j', async (method, path, body, saved) => {
    const answer = await server.api(method, `/services/${name}${path}`, body)
    expect(answer).toMatchObject({ status: 200, body: saved })
    expect((await server.api('GET', `/services/${name}`)).body).toMatchObject(saved)
  })

  it('a deletion is begun and reported; the service accepts nothing more', async () => {
    await server.api('PATCH', `/services/${name}`, { image: 'busybox:1' })
    const answer = await server.api('DELETE', `/services/${name}`)
    expect(answer).toMatchObject(refusal(502, 'runtime_error'))
    expect(answer.body.error.message).toContain(name)
    expect((await server.api('GET', `/services/${name}`)).body.state).toBe('deleting')
    const changes: [string, string, unknown?][] = [
      ['PATCH', '', { branch: 'x' }],
      ['POST', '/suspend'],
      ['POST', '/resume'],
      ['POST', '/scale', { instances: 2 }],
      ['POST', '/deploys'],
      ['POST', '/restart'],
      ['POST', '/deploy-hook/rotate'],
      ['PUT', '/env', { vars: [] }],
      ['PATCH', '/env', {}],
      ['PATCH', '', { env_groups: [] }],
      ['POST', '/deploys/upload'],
    ]
    const faults: string[] = []
    for (const [method, path, body] of changes) {
      const { status } = await server.api(method, `/services/${name}${path}`, body)
      if (status !== 409) faults.push(`${method} ${path}: ${status}`)
    }
    expect(faults).toEqual([])
  })

  it('its logs are those that are kept', async () => {
    expect(await server.api('GET', `/services/${name}/logs`)).toMatchObject({ status: 200 })
  })

  it("the server reports about itself without the engine's facts", async () => {
    const { status, body } = await server.api('GET', '/info')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      base_domain: 'localhost',
      runtime_version: null,
      runtime_cpus: null,
      runtime_memory_bytes: null,
      tls_enabled: false,
      client_ip: '127.0.0.1',
      node_version: process.versions.node,
    })
  })
})

describe('the order of refusals', () => {
  const WRONG = { headers: { authorization: 'Bearer wrong' } }

  it('an unknown route comes first, then its method, for valid credentials', async () => {
    expect(await server.api('GET', '/servicess')).toMatchObject(refusal(404, 'not_found'))
    const answer = await server.api('PUT', `/services/${name}`, '{bad')
    expect(answer).toMatchObject(refusal(405, 'method_not_allowed'))
    expect(answer.headers.get('allow')).toMatch(/GET.*PATCH.*DELETE/)
  })

  it('missing or wrong credentials come before everything else of a known route', async () => {
    const large = 'x'.repeat(3 * 1024 * 1024)
    const requests: [string, string, unknown?][] = [
      ['PUT', `/api/v1/services/${name}`],
      ['POST', '/api/v1/services', large],
      ['POST', '/api/v1/services', '{bad'],
      ['GET', '/api/v1/services/nobody?nonsense=1'],
      ['POST', `/api/v1/services/${name}/restart`],
    ]
    for (const init of [{}, WRONG]) {
      for (const [method, path, body] of requests) {
        const answer = await server.request(method, path, body, init)
        expect([method, path, answer.status, answer.body.error.code]).toEqual([
          method,
          path,
          401,
          'unauthorized',
        ])
      }
    }
  })

  it('a body that is too large comes before a bad one, and that before a missing service', async () => {
    const large = `{"bad": ${'x'.repeat(3 * 1024 * 1024)}`
    expect(await server.api('PATCH', '/services/nobody?x=1', large)).toMatchObject(
      refusal(413, 'payload_too_large'),
    )
    expect(await server.api('PATCH', '/services/nobody', '{bad')).toMatchObject(
      refusal(400, 'invalid_request'),
    )
    expect(await server.api('PATCH', '/services/nobody?x=1', {})).toMatchObject(
      refusal(400, 'invalid_request'),
    )
    expect(await server.api('PATCH', '/services/nobody', { port: 0 })).toMatchObject(
      refusal(400, 'invalid_request'),
    )
    expect(await server.api('PATCH', '/services/nobody', {})).toMatchObject(refusal(404, 'not_found'))
  })

  it('a missing service comes before what its state refuses', async () => {
    expect(await server.api('POST', '/services/nobody/restart')).toMatchObject(refusal(404, 'not_found'))
    expect(await server.api('POST', '/services/nobody/deploys')).toMatchObject(refusal(404, 'not_found'))
    expect(await server.api('POST', '/services/nobody/rollback', { deploy_id: 'x' })).toMatchObject(
      refusal(404, 'not_found'),
    )
  })
})

describe('a query', () => {
  it.each(['true', '1', 'yes', 'on', 'y', 'TRUE', '', 'false', '0', 'no', 'off', 'n', 'False'])(
    'accepts a boolean in each documented spelling: %j',
    async (value) => {
      const answer = await server.api('PUT', `/services/${name}/env?restart=${value}`, { vars: [] })
      expect(answer.status).toBe(200)
    },
  )

  it('accepts the bare name of a boolean', async () => {
    expect((await server.api('PUT', `/services/${name}/env?restart`, { vars: [] })).status).toBe(200)
  })

  it.each([
    'restart=maybe',
    'restart=2',
    'restart=t',
    'restart=%20',
    'restart=true&restart=true',
    'Restart=1',
  ])('is refused with another one: %s', async (query) => {
    const answer = await server.api('PUT', `/services/${name}/env?${query}`, { vars: [] })
    expect(answer).toMatchObject(refusal(400, 'invalid_request'))
    expect(answer.body.error.message).toMatch(/restart/i)
  })

  it.each(['environment=', 'environment=production&environment=production', 'environment[]=production'])(
    'is refused with an invalid environment: %s',
    async (query) => {
      expect(await server.api('GET', `/services?${query}`)).toMatchObject(refusal(400, 'invalid_request'))
    },
  )

  it('may contain the token of a GET, but not of a change', async () => {
    const query = `?access_token=${server.token}`
    expect((await server.request('GET', `/api/v1/services${query}`)).status).toBe(200)
    expect(await server.request('POST', `/api/v1/services${query}`, { name: 'x' })).toMatchObject(
      refusal(401, 'unauthorized'),
    )
  })
})

describe('a path', () => {
  it.each([
    '%00',
    '%2e%2e',
    '..%2fx',
    'a%2Fb',
    '%ff',
    '%',
    'x'.repeat(4_000),
    "'%20OR%201=1--",
    '%F0%9F%92%A9',
  ])('that names no service is answered with 404 or 400: %s', async (ref) => {
    const status = await rawStatus('GET', `/api/v1/services/${ref}`)
    expect([400, 404]).toContain(status)
  })

  it('is answered to HEAD as to GET, without a body', async () => {
    const answer = await server.api('HEAD', `/services/${name}`)
    expect(answer).toMatchObject({ status: 200, body: null })
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
    expect((await server.api('HEAD', '/services/nobody')).status).toBe(404)
    expect((await server.request('HEAD', `/api/v1/services/${name}`)).status).toBe(401)
  })

  it('is never kept by a cache', async () => {
    expect((await server.api('GET', `/services/${name}`)).headers.get('cache-control')).toBe('no-store')
  })

  it('gives no other origin permission to read it', async () => {
    const init = { headers: { origin: 'https://example.com', authorization: `Bearer ${server.token}` } }
    const { headers } = await server.request('GET', '/api/v1/services', undefined, init)
    expect(headers.get('access-control-allow-origin')).toBeNull()
  })
})

describe('a body over 2 MiB', () => {
  it('is refused although the client is still sending, and the refusal reaches it', async () => {
    for (const framing of [`Content-Length: ${8 * 1024 * 1024}`, 'Transfer-Encoding: chunked']) {
      const answer = await sendLarge(framing, 8 * 1024 * 1024)
      expect(answer).toMatch(/^HTTP\/1\.1 413 /)
      expect(answer).toContain('"payload_too_large"')
      expect(answer.toLowerCase()).toContain('connection: close')
    }
    expect((await server.request('GET', '/healthz')).body).toBe('ok')
  })

  it('is accepted at exactly 2 MiB, counted in bytes', async () => {
    const limit = 2 * 1024 * 1024
    const fill = (bytes: number) => `{"branch":"x"${' '.repeat(bytes - 14)}}`
    expect((await server.api('PATCH', `/services/${name}`, fill(limit))).status).toBe(200)
    expect((await server.api('PATCH', `/services/${name}`, fill(limit + 1))).status).toBe(413)
  })
})

/** The status of a request whose path is sent as it is. */
async function rawStatus(method: string, path: string): Promise<number> {
  const head = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server.token}\r\nConnection: close\r\n\r\n`
  return Number((await exchange((socket) => socket.write(head))).split(' ')[1])
}

/** Sends all of a body before it reads the answer, as a simple client does. */
function sendLarge(framing: string, bytes: number): Promise<string> {
  return exchange((socket) => {
    socket.write(
      `POST /api/v1/services HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server.token}\r\n`,
    )
    socket.write(`${framing}\r\n\r\n`)
    const piece = 'x'.repeat(64 * 1024)
    for (let sent = 0; sent < bytes; sent += piece.length) {
      socket.write(framing.startsWith('Content') ? piece : `10000\r\n${piece}\r\n`)
    }
    if (framing.startsWith('Transfer')) socket.write('0\r\n\r\n')
  })
}

/** What the server answers until it closes the connection. */
function exchange(send: (socket: ReturnType<typeof connect>) => void): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    let text = ''
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    socket.on('close', () => resolve(text))
    // A reset after the answer was read loses nothing for the client.
    socket.on('error', (error) => (text === '' ? reject(error) : resolve(text)))
    socket.on('connect', () => send(socket))
  })
}

describe('a name that is taken', () => {
  it('is refused to all but one of many simultaneous requests, and the refusal names its owner', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => server.api('POST', '/services', { name: 'wanted-by-many' })),
    )
    const [holder] = answers.filter(({ status }) => status === 201)
    const refused = answers.filter(({ status }) => status === 409)
    expect(refused).toHaveLength(7)
    for (const { body } of refused)
      expect(body.error.message).toBe(`name: wanted-by-many is in use by service ${holder!.body.id}`)
    await server.api('POST', '/services', { name: 'renamed' })
    const renamed = await server.api('PATCH', '/services/renamed', { name: 'wanted-by-many' })
    expect(renamed.body.error.message).toContain(holder!.body.id)
  })
})

describe('the list', () => {
  it('shows the database as it is now, whoever wrote to it', async () => {
    const list = async () => (await server.api('GET', '/services')).body as { name: string; branch: string }[]
    await server.api('POST', '/services', { name: 'listed-now' })
    expect((await list()).map(({ name }) => name)).toContain('listed-now')
    for (const branch of ['one', 'two']) {
      await server.api('PATCH', '/services/listed-now', { branch })
      expect((await list()).find(({ name }) => name === 'listed-now')!.branch).toBe(branch)
    }
    const database = databaseOf(server.dataDirectory)
    database.exec("UPDATE services SET branch = 'three' WHERE name = 'listed-now'")
    database.close()
    expect((await list()).find(({ name }) => name === 'listed-now')!.branch).toBe('three')
    const elsewhere = await server.api('GET', '/services?environment=nowhere')
    expect(elsewhere.status).toBe(404)
  })
})

describe('the timeline', () => {
  const events = async (query = '') => (await server.api('GET', `/services/${name}/events${query}`)).body

  it('lists what happened, newest first, in pages and by type, with who did it', async () => {
    await server.api('POST', `/services/${name}/scale`, { instances: 2 })
    await server.api('PATCH', `/services/${name}`, { port: 8080, env: [{ key: 'KEY', value: 'hidden' }] })
    await server.api('POST', `/services/${name}/suspend`)
    const all = await events()
    expect(all.map(({ message }: { message: string }) => message)).toEqual([
      'Suspended',
      'Variables saved: KEY',
      'Settings saved: port',
      'Scaled from 1 to 2 instances',
      'Service created',
    ])
    expect(all[3]).toEqual({
      id: expect.stringMatching(/^evt-[0-9a-f]{20}$/),
      service_id: service.id,
      at: expect.any(String),
      type: 'service.scaled',
      message: 'Scaled from 1 to 2 instances',
      deploy_id: null,
      instance: null,
      details: { from: 1, to: 2 },
      actor: { kind: 'server_token', id: null, name: null },
      count: 1,
      first_at: all[3].at,
    })
    expect(await events('?limit=2')).toEqual(all.slice(0, 2))
    expect(await events(`?limit=2&before=${all[1].id}`)).toEqual(all.slice(2, 4))
    expect(await events('?type=variables')).toEqual([all[1]])
    expect(await events('?type=service.scaled')).toEqual([all[3]])
  })

  it('refuses unknown types and places with documented codes', async () => {
    const path = `/services/${name}/events`
    for (const query of ['type=deploy.exploded', 'type=dep', 'before=x', 'limit=many', 'since=1h'])
      expect([query, (await server.api('GET', `${path}?${query}`)).status]).toEqual([query, 400])
    const other = await server.api('POST', '/services', { name: `${name}-other` })
    const [{ id }] = (await server.api('GET', `/services/${other.body.id}/events`)).body
    expect(await server.api('GET', `${path}?before=${id}`)).toMatchObject(refusal(404, 'not_found'))
  })
})
