import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { git } from '../git/remotes.ts'
import { PlayedProvider, type PlayedApp } from '../git/providers.ts'
import { startServer, type ApiAnswer, type TestServer } from '../support/server.ts'

const CALLBACK = 'https://dashboard.example.com/git/callback'
let server: TestServer
let home: string
let provider: PlayedProvider

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'git-connections-'))
  makeRepository('octo-org/api')
  provider = await PlayedProvider.start(home)
  server = await startServer()
})
afterAll(async () => {
  await server?.stop()
  await provider?.close()
  rmSync(home, { recursive: true, force: true })
})
beforeEach(async () => {
  provider.instead.clear()
  provider.repositories.length = 0
  provider.tokens.clear()
  for (const { id } of (await server.api('GET', '/git/connections')).body as { id: string }[])
    await server.api('DELETE', `/git/connections/${id}?force=true`)
})

/** A repository with one commit on two branches, in the folder that the provider serves. */
function makeRepository(name: string): void {
  const bare = join(home, `${name}.git`)
  mkdirSync(bare, { recursive: true })
  git(bare, 'init', '-q', '--bare', '-b', 'main')
  const tree = git(bare, 'mktree')
  const commit = git(bare, 'commit-tree', '-m', 'first', tree)
  for (const branch of ['main', 'next']) git(bare, 'update-ref', `refs/heads/${branch}`, commit)
}

/** Pushes a branch on which another repository is a submodule. */
function addSubmodule(name: string, branch: string, of: string): void {
  const work = mkdtempSync(join(home, '.work-'))
  git(work, 'clone', '-q', join(home, `${name}.git`), '.')
  const sha = git(join(home, `${of}.git`), 'rev-parse', 'main')
  const module = [`path = sub`, `url = ${provider.url}/${of}.git`]
  writeFileSync(join(work, '.gitmodules'), ['[submodule "sub"]', ...module, ''].join('\n'))
  git(work, 'add', '.gitmodules')
  git(work, 'update-index', '--add', '--cacheinfo', `160000,${sha},sub`)
  git(work, 'commit', '-q', '-m', 'submodule')
  git(work, 'push', '-q', 'origin', `HEAD:${branch}`)
}

/** Connects with a token whose owner reads `octo-org/api`. */
async function connect(
  kind: 'gitprov_a' | 'gitprov_b' = 'gitprov_a',
  token = 'ghp_0123456789abcd',
): Promise<ApiAnswer> {
  provider.tokens.set(token, 'ada')
  provider.add('octo-org/api', ['ada'])
  return server.api('POST', '/git/connections', { provider: kind, token, base_url: `${provider.url}/` })
}

const failure = (status: number, code: string, message: RegExp) => ({
  status,
  body: { error: { code, message: expect.stringMatching(message) } },
})

async function listed(): Promise<{ id: string; status: string; account: string | null }[]> {
  return (await server.api('GET', '/git/connections')).body
}

describe('a personal access token', () => {
  it.each(['gitprov_a', 'gitprov_b'] as const)(
    'of %s is asked whose it is, and kept as a hint alone',
    async (kind) => {
      const { status, body } = await connect(kind)
      expect({ status, body }).toMatchObject({
        status: 201,
        body: {
          id: expect.stringMatching(/^git-[0-9a-f]{20}$/),
          provider: kind,
          auth: 'token',
          status: 'connected',
          account: 'ada',
          account_name: expect.stringContaining('ada of'),
          base_url: provider.url,
          token_hint: 'abcd',
          token_expires_at: expect.stringMatching(/^2030-01-02T/),
          push_events: false,
          services: [],
        },
      })
      expect(body.scopes).not.toEqual([])
      expect(JSON.stringify(await listed())).not.toContain('ghp_0123456789')
      expect(server.logs).not.toContain('ghp_0123456789')
    },
  )

  it('replaces that of an account which is connected, with 200', async () => {
    const first = await connect()
    const second = await connect('gitprov_a', 'ghp_another_wxyz')
    expect(second).toMatchObject({ status: 200, body: { id: first.body.id, token_hint: 'wxyz' } })
    expect(await listed()).toHaveLength(1)
  })

  it('that the provider refuses connects nothing', async () => {
    const body = { provider: 'gitprov_a', token: 'ghp_nobody', base_url: provider.url }
    expect(await server.api('POST', '/git/connections', body)).toMatchObject(
      failure(409, 'git_authorization_rejected', /GitHub at 127.0.0.1:\d+ refused: Bad credentials/),
    )
    expect(await listed()).toEqual([])
  })

  it.each([
    ['no provider', { token: 'x' }],
    ['another provider', { provider: 'bitbucket', token: 'x' }],
    ['no token', { provider: 'gitprov_a' }],
    ['an empty token', { provider: 'gitprov_a', token: '' }],
    ['a token with a line end', { provider: 'gitprov_a', token: 'a\r\nX-Evil: 1' }],
    ['a relative base_url', { provider: 'gitprov_a', token: 'x', base_url: '/git' }],
    ['a base_url of another scheme', { provider: 'gitprov_a', token: 'x', base_url: 'ftp://example.com' }],
    [
      'a base_url with credentials',
      { provider: 'gitprov_a', token: 'x', base_url: 'https://a:b@example.com' },
    ],
    [
      'a base_url of the metadata service',
      { provider: 'gitprov_a', token: 'x', base_url: 'http://169.254.169.254' },
    ],
    [
      'the same in another way',
      { provider: 'gitprov_a', token: 'x', base_url: 'http://[::ffff:a9fe:a9fe]/' },
    ],
    ['an unknown field', { provider: 'gitprov_a', token: 'x', name: 'mine' }],
  ])('with %s is refused', async (_what, body) => {
    expect(await server.api('POST', '/git/connections', body)).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_request' } },
    })
  })
})

describe('a provider', () => {
  const faults: [string, (response: import('node:http').ServerResponse) => void, number, string, RegExp][] = [
    [
      '401',
      (response) => response.writeHead(401).end('{"message":"Bad credentials"}'),
      409,
      'git_authorization_rejected',
      /refused/,
    ],
    [
      '403',
      (response) => response.writeHead(403).end('{"message":"SSO"}'),
      409,
      'git_authorization_rejected',
      /refused: SSO/,
    ],
    [
      'its limit',
      (response) => response.writeHead(403, { 'x-ratelimit-remaining': '0' }).end('{}'),
      502,
      'git_provider_unavailable',
      /try again later/,
    ],
    ['500', (response) => response.writeHead(500).end('{}'), 502, 'git_provider_unavailable', /answered 500/],
    [
      'HTML',
      (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
      502,
      'git_provider_unavailable',
      /without JSON/,
    ],
    [
      'another shape',
      (response) => response.writeHead(200).end('{"id":1}'),
      502,
      'git_provider_unavailable',
      /another shape/,
    ],
    [
      'nothing',
      (response) => response.socket!.destroy(),
      502,
      'git_provider_unavailable',
      /cannot be reached/,
    ],
    [
      'a redirect elsewhere',
      (response) => response.writeHead(302, { location: 'http://169.254.169.254/x' }).end(),
      502,
      'git_provider_unavailable',
      /leads to another address/,
    ],
    [
      'a circle',
      (response) => response.writeHead(302, { location: '/api/v3/user' }).end(),
      502,
      'git_provider_unavailable',
      /circle/,
    ],
    [
      'an endless answer',
      (response) => void endless(response),
      502,
      'git_provider_unavailable',
      /cannot be reached/,
    ],
  ]
  it.each(faults)(
    'that answers %s is told so, and nothing stays',
    async (_what, answer, status, code, message) => {
      provider.instead.set('GET /api/v3/user', answer)
      expect(await connect()).toMatchObject(failure(status, code, message))
      expect(await listed()).toEqual([])
    },
  )

  it('that is silent is given up after 10 s', async () => {
    provider.instead.set('GET /api/v3/user', () => {})
    expect(await connect()).toMatchObject(
      failure(502, 'git_provider_unavailable', /did not answer within 10 s/),
    )
  })

  it('that leads on on its own host is followed, without a change of what was asked', async () => {
    provider.instead.set('GET /api/v3/user', (response) => {
      provider.instead.clear()
      response.writeHead(301, { location: `${provider.url}/api/v3/user` }).end()
    })
    expect(await connect()).toMatchObject({ status: 201 })
  })

  it("is never this server's own API", async () => {
    const body = { provider: 'gitprov_a', token: 'x', base_url: server.url }
    expect(await server.api('POST', '/git/connections', body)).toMatchObject(
      failure(400, 'invalid_request', /this server's own API/),
    )
  })
})

async function endless(response: import('node:http').ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json' })
  const piece = Buffer.alloc(1024 * 1024, '[')
  const closed = new AbortController()
  response.once('close', () => closed.abort())
  while (!closed.signal.aborted)
    if (!response.write(piece)) await once(response, 'drain', { signal: closed.signal }).catch(() => {})
}

describe('the repositories of a connection', () => {
  it.each(['gitprov_a', 'gitprov_b'] as const)(
    'of %s are listed, most recently updated first',
    async (kind) => {
      const { body } = await connect(kind)
      provider.add('ada/older', ['ada'], { updated_at: '2025-01-01T00:00:00Z', private: false })
      provider.add('team/newer', ['ada'], { updated_at: '2026-06-01T00:00:00Z' })
      provider.add('team/secret', ['grace'])
      const { status, body: answer } = await server.api('GET', `/git/connections/${body.id}/repositories`)
      expect({ status, truncated: answer.truncated }).toEqual({ status: 200, truncated: false })
      expect(answer.repositories.map((each: { full_name: string }) => each.full_name)).toEqual([
        'team/newer',
        'octo-org/api',
        'ada/older',
      ])
      expect(answer.repositories[0]).toEqual({
        id: '3',
        name: 'newer',
        full_name: 'team/newer',
        owner: 'team',
        description: null,
        default_branch: 'main',
        clone_url: `${provider.url}/team/newer.git`,
        web_url: `${provider.url}/team/newer`,
        private: true,
        archived: false,
        updated_at: '2026-06-01T00:00:00.000Z',
      })
    },
  )

  it('are a thousand at most, which is said', async () => {
    const { body } = await connect()
    for (let index = 0; index < 1_000; index++) provider.add(`team/r${index}`, ['ada'])
    const { body: answer } = await server.api('GET', `/git/connections/${body.id}/repositories`)
    expect([answer.repositories.length, answer.truncated]).toEqual([1_000, true])
  })

  it('are refused once the token was revoked', async () => {
    const { body } = await connect()
    provider.tokens.clear()
    expect(await server.api('GET', `/git/connections/${body.id}/repositories`)).toMatchObject(
      failure(409, 'git_authorization_rejected', /Bad credentials/),
    )
    expect(await listed()).toMatchObject([{ status: 'connected' }])
  })
})

describe('a submodule', () => {
  it('in somebody else’s repository gets nothing that is the account’s own', async () => {
    await connect()
    for (const name of ['ada/secret', 'ada/app', 'octo-org/lib']) {
      makeRepository(name)
      provider.add(name, ['ada'])
    }
    for (const name of ['octo-org/lib', 'ada/app']) addSubmodule(name, 'with-submodule', 'ada/secret')
    const detect = (name: string) =>
      server.api('POST', '/detect', { repo_url: `${provider.url}/${name}.git`, branch: 'with-submodule' })
    expect((await detect('ada/app')).status).toBe(200)
    const stranger = await detect('octo-org/lib')
    expect(stranger.status).toBeGreaterThanOrEqual(400)
    expect(stranger.body.error.message).toMatch(/^the submodule sub cannot be fetched/)
  })
})

const branches = (url: string) => server.api('GET', `/git/branches?repo_url=${encodeURIComponent(url)}`)

describe('branches', () => {
  it('of a private repository are read with the connection that serves it', async () => {
    const { body } = await connect()
    const url = `${provider.url}/octo-org/api.git`
    expect(await branches(url)).toMatchObject({
      status: 200,
      body: { branches: ['main', 'next'], default_branch: 'main', connection_id: body.id },
    })
  })

  it('of a repository that nobody connected may read are refused', async () => {
    provider.add('octo-org/api', [])
    expect(await branches(`${provider.url}/octo-org/api.git`)).toMatchObject(
      failure(409, 'git_authorization_rejected', /does not exist or is private/),
    )
  })

  it('are read with the credentials in the address, where there are any', async () => {
    await connect()
    const url = `${provider.url}/octo-org/api.git`.replace('://', '://x:wrong@')
    expect(await branches(url)).toMatchObject(
      failure(409, 'git_authorization_rejected', /refused the credentials/),
    )
  })

  it('of a host that sends elsewhere are not read there, by whatever name', async () => {
    const other = createServer((_request, response) => response.writeHead(200).end()).listen(0, '127.0.0.1')
    await new Promise((resolve) => other.once('listening', resolve))
    let asked = 0
    other.on('request', () => (asked += 1))
    const { port } = other.address() as AddressInfo
    const places = [`http://localhost:${port}/x.git`, 'http://169.254.169.254/x.git', server.url]
    for (const location of places) {
      const redirecting = createServer((request, response) => {
        const query = new URL(request.url!, 'http://host').search
        response.writeHead(302, { location: `${location}/info/refs${query}` }).end()
      }).listen(0, '127.0.0.1')
      await new Promise((resolve) => redirecting.once('listening', resolve))
      const own = (redirecting.address() as AddressInfo).port
      expect(await branches(`http://127.0.0.1:${own}/a/b.git`)).toMatchObject(
        failure(502, 'git_remote_unreachable', /leads to another host|own API/),
      )
      redirecting.close()
    }
    other.close()
    expect(asked).toBe(0)
  })

  it.each([
    'http://169.254.169.254/a/b',
    'git://[fe80::1]/a/b',
    'http://0.0.0.0:7878/a/b',
    'ssh://git@[::ffff:169.254.1.1]/a/b',
  ])('of %s are never asked for', async (url) => {
    expect(await branches(url)).toMatchObject(failure(400, 'invalid_request', /never asked/))
    expect(await server.api('POST', '/services', { name: 'elsewhere', repo_url: url })).toMatchObject(
      failure(400, 'invalid_request', /^repo_url: .*never asked/),
    )
  })
})

describe('a connection that services are cloned with', () => {
  it('is removed by force alone, and names them', async () => {
    const { body } = await connect()
    const url = `${provider.url}/octo-org/api.git`
    const name = `cloned-${body.id.slice(-6)}`
    const service = await server.api('POST', '/services', { name, repo_url: url, deploy: false })
    onTestFinished(async () => void (await server.api('DELETE', `/services/${name}`)))
    expect(service.status).toBe(201)
    await branches(url)
    expect((await server.api('GET', `/git/connections/${body.id}`)).body.services).toEqual([name])
    expect(await server.api('DELETE', `/git/connections/${body.id}`)).toMatchObject(
      failure(409, 'conflict', new RegExp(name)),
    )
    expect(await server.api('DELETE', `/git/connections/${body.id}?force=true`)).toMatchObject({
      status: 204,
    })
    expect(await server.api('GET', `/git/connections/${body.id}`)).toMatchObject({ status: 404 })
    expect(await branches(url)).toMatchObject({ status: 409 })
  })
})

const authorize = (body: object) => server.api('POST', '/git/authorize', { redirect_uri: CALLBACK, ...body })
const callback = (body: object) => server.api('POST', '/git/callback', body)
const stateIn = (url: string) => new URL(url).searchParams.get('state')!

/** Goes through the manifest and the installation of an app, as a browser and GitHub would. */
async function connectApp(
  owner = 'octo-org',
  redirect = CALLBACK,
): Promise<{ app: PlayedApp; answer: ApiAnswer; state: string }> {
  const begun = await authorize({
    provider: 'gitprov_a',
    base_url: provider.url,
    organization: owner,
    redirect_uri: redirect,
  })
  expect(begun).toMatchObject({
    status: 200,
    body: { status: 'redirect', method: 'post', connection: { status: 'pending' } },
  })
  const code = provider.register(JSON.parse(begun.body.fields.manifest) as Record<string, unknown>, owner)
  const converted = await callback({ state: stateIn(begun.body.url), code })
  expect(converted).toMatchObject({ status: 200, body: { status: 'redirect', method: 'get', fields: {} } })
  const app = [...provider.apps.values()].at(-1)!
  const state = stateIn(converted.body.url)
  const installation_id = provider.install(app)
  return {
    app,
    state,
    answer: await callback({ state, installation_id: String(installation_id), code: 'unused' }),
  }
}

describe('an app of GitHub', () => {
  it('is registered by a manifest that asks for what it needs and no more', async () => {
    const { body } = await authorize({
      provider: 'gitprov_a',
      base_url: provider.url,
      organization: 'octo-org',
    })
    expect(body.url).toMatch(
      new RegExp(`^${provider.url}/organizations/octo-org/settings/apps/new\\?state=[0-9a-f]{40}$`),
    )
    expect(JSON.parse(body.fields.manifest)).toEqual({
      name: expect.stringMatching(/^Deployer .{1,25}$/),
      url: 'https://dashboard.example.com',
      redirect_url: CALLBACK,
      setup_url: CALLBACK,
      setup_on_update: true,
      public: false,
      default_permissions: { contents: 'read', metadata: 'read', statuses: 'write' },
      hook_attributes: { url: 'https://dashboard.example.com/hooks/gitprov' },
      default_events: ['push'],
    })
  })

  it('of a dashboard that the internet does not reach gets no webhook', async () => {
    const redirect_uri = 'http://127.0.0.1:7878/git/callback'
    const { body } = await authorize({ provider: 'gitprov_a', redirect_uri })
    expect(body.url).toMatch(/^https:\/\/github\.com\/settings\/apps\/new\?state=/)
    expect(JSON.parse(body.fields.manifest)).not.toHaveProperty('hook_attributes')
  })

  it('is connected once it is installed, and reads by short-lived tokens that are made once', async () => {
    provider.add('octo-org/api', ['octo-org'])
    const { app, answer } = await connectApp()
    expect(answer).toMatchObject({
      status: 200,
      body: {
        status: 'connected',
        url: null,
        connection: {
          auth: 'hosted_app',
          status: 'connected',
          account: 'octo-org',
          app_slug: app.slug,
          app_url: `${provider.url}/apps/${app.slug}`,
          manage_url: expect.stringContaining('/settings/installations/'),
          repository_selection: 'selected',
          push_events: true,
          token_hint: null,
        },
      },
    })
    const { id } = answer.body.connection
    provider.asked.length = 0
    const read = () => server.api('GET', `/git/connections/${id}/repositories`)
    for (const { status, body } of await Promise.all([read(), read(), read()]))
      expect({ status, body }).toMatchObject({
        status: 200,
        body: { repositories: [{ full_name: 'octo-org/api' }] },
      })
    expect(provider.asked.filter(({ path }) => path.endsWith('/access_tokens'))).toHaveLength(1)
    expect(await branches(`${provider.url}/octo-org/api.git`)).toMatchObject({
      status: 200,
      body: { connection_id: id },
    })
    expect(JSON.stringify(await listed())).not.toMatch(/PRIVATE KEY|an app secret/)
  })

  it('keeps nothing secret in the open', async () => {
    const { app } = await connectApp('sealed-org')
    const database = new DatabaseSync(join(server.dataDirectory, 'deployer.db'))
    const dump = JSON.stringify(
      database.prepare('SELECT * FROM git_connections').all(),
      (_, value: unknown) => (value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value),
    )
    database.close()
    expect(dump).toContain('sealed-org')
    for (const secret of [app.pem.slice(40, 80), app.webhookSecret!, 'an app secret'])
      expect(dump).not.toContain(secret)
  })

  it('takes each state once, and none that nobody made', async () => {
    const { state, app } = await connectApp('once-org')
    const installation_id = [...app.installations.keys()][0]
    for (const used of [state, 'f'.repeat(40), 'x'])
      expect(await callback({ state: used, installation_id })).toMatchObject(
        failure(409, 'git_authorization_rejected', /the state is unknown, was used/),
      )
  })

  it('is taken up where it was left, at each step', async () => {
    const begun = await authorize({ provider: 'gitprov_a', base_url: provider.url, organization: 'left-org' })
    const { id } = begun.body.connection
    const again = await authorize({ connection_id: id })
    expect(again.body).toMatchObject({ method: 'post', connection: { id } })
    const code = provider.register(
      JSON.parse(again.body.fields.manifest) as Record<string, unknown>,
      'left-org',
    )
    expect((await callback({ state: stateIn(again.body.url), code })).status).toBe(200)
    const resumed = await authorize({ connection_id: id })
    expect(resumed.body).toMatchObject({
      status: 'redirect',
      method: 'get',
      connection: { id, status: 'pending' },
    })
    const installation_id = provider.install([...provider.apps.values()].at(-1)!)
    expect((await callback({ state: stateIn(resumed.body.url), installation_id })).body.status).toBe(
      'connected',
    )
    expect(await authorize({ connection_id: id })).toMatchObject({ body: { status: 'connected', url: null } })
  })

  it("is read again by an installation alone, and an unknown one is nobody's", async () => {
    const { app, answer } = await connectApp('read-org')
    const [installation] = app.installations.values()
    installation!.selection = 'all'
    expect(await callback({ installation_id: installation!.id })).toMatchObject({
      status: 200,
      body: {
        status: 'connected',
        connection: { id: answer.body.connection.id, repository_selection: 'all' },
      },
    })
    expect(await callback({ installation_id: 4 })).toMatchObject({ status: 404 })
  })

  it('whose installation was removed says so, and is authorized again', async () => {
    const { app, answer } = await connectApp('gone-org')
    app.installations.clear()
    const { id } = answer.body.connection
    expect(await server.api('GET', `/git/connections/${id}/repositories`)).toMatchObject(
      failure(409, 'git_authorization_rejected', /authorize the connection again/),
    )
    expect(await authorize({ connection_id: id })).toMatchObject({
      body: { status: 'redirect', method: 'get' },
    })
  })

  it('that the provider does not make leaves a pending connection', async () => {
    const { body } = await authorize({
      provider: 'gitprov_a',
      base_url: provider.url,
      organization: 'half-org',
    })
    expect(await callback({ state: stateIn(body.url), code: 'no-such-code' })).toMatchObject(
      failure(409, 'git_authorization_rejected', /did not make the app: Not Found/),
    )
    expect(await listed()).toMatchObject([{ id: body.connection.id, status: 'pending', account: null }])
  })
})

describe('an authorization by OAuth of GitLab', () => {
  const application = { client_id: 'client-1', client_secret: 'client-secret-1' }

  async function connectOAuth(): Promise<ApiAnswer> {
    const { status, body } = await authorize({
      provider: 'gitprov_b',
      base_url: provider.url,
      ...application,
    })
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { status: 'redirect', method: 'get', fields: {} },
    })
    return callback({ state: stateIn(body.url), code: provider.grant(new URL(body.url).searchParams) })
  }

  it('needs an application the first time, and remembers it', async () => {
    const begin = { provider: 'gitprov_b', base_url: 'https://gitlab.internal.example' }
    expect(await authorize(begin)).toMatchObject(
      failure(400, 'git_application_required', /read_api and read_repository/),
    )
    expect(await listed()).toEqual([])
    expect(await authorize({ ...begin, client_id: 'only' })).toMatchObject({ status: 400 })
    const first = await authorize({ ...begin, ...application })
    const query = new URL(first.body.url).searchParams
    expect(first.body.url).toMatch(/^https:\/\/gitlab\.internal\.example\/oauth\/authorize\?/)
    expect(Object.fromEntries(query)).toEqual({
      client_id: 'client-1',
      redirect_uri: CALLBACK,
      response_type: 'code',
      scope: 'read_api read_repository',
      state: expect.stringMatching(/^[0-9a-f]{40}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    })
    expect(await authorize(begin)).toMatchObject({
      status: 200,
      body: { connection: { client_id: 'client-1' } },
    })
    expect(JSON.stringify([first.body, await listed()])).not.toContain('client-secret-1')
  })

  it('connects, and clones with what it was granted', async () => {
    provider.add('octo-org/api', ['ada'])
    const { status, body } = await connectOAuth()
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        status: 'connected',
        connection: { auth: 'oauth', account: 'ada', status: 'connected', token_hint: null },
      },
    })
    expect(await branches(`${provider.url}/octo-org/api.git`)).toMatchObject({
      status: 200,
      body: { connection_id: body.connection.id },
    })
  })

  it('is renewed before it ends, once for all who ask at a time', async () => {
    provider.oauth.lifetimeSeconds = 60
    const { body } = await connectOAuth()
    provider.oauth.lifetimeSeconds = 7_200
    provider.expire()
    provider.asked.length = 0
    const read = () => server.api('GET', `/git/connections/${body.connection.id}/repositories`)
    const answers = await Promise.all([read(), read(), read()])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(provider.asked.filter(({ path }) => path === '/oauth/token')).toHaveLength(1)
    await server.restart()
    expect((await read()).status).toBe(200)
  })

  it('outlives a provider that breaks off during a renewal', async () => {
    provider.oauth.lifetimeSeconds = 60
    const { body } = await connectOAuth()
    provider.oauth.lifetimeSeconds = 7_200
    provider.instead.set('POST /oauth/token', (response) => response.socket!.destroy())
    const read = () => server.api('GET', `/git/connections/${body.connection.id}/repositories`)
    expect(await read()).toMatchObject(failure(502, 'git_provider_unavailable', /cannot be reached/))
    provider.instead.clear()
    expect((await read()).status).toBe(200)
  })

  it('refuses a code that was not granted to it', async () => {
    const { body } = await authorize({ provider: 'gitprov_b', base_url: provider.url, ...application })
    const other = await authorize({ provider: 'gitprov_b', base_url: provider.url, ...application })
    const code = provider.grant(new URL(other.body.url).searchParams)
    expect(await callback({ state: stateIn(body.url), code })).toMatchObject(
      failure(409, 'git_authorization_rejected', /granted no access/),
    )
    expect(await listed()).toMatchObject([{ status: 'pending' }])
  })

  it('is connected as before when nothing is left to do', async () => {
    const { body } = await connectOAuth()
    const { id } = body.connection
    expect(await authorize({ connection_id: id })).toMatchObject({
      body: { status: 'connected', connection: { id } },
    })
  })
})

describe('what cannot begin', () => {
  it.each([
    ['without a provider', {}],
    ['with a redirect_uri elsewhere', { provider: 'gitprov_a', redirect_uri: 'https://example.com/other' }],
    ['with a relative redirect_uri', { provider: 'gitprov_a', redirect_uri: '/git/callback' }],
    ['with a query', { provider: 'gitprov_a', redirect_uri: `${CALLBACK}?a=1` }],
    ['with a fragment', { provider: 'gitprov_a', redirect_uri: `${CALLBACK}#a` }],
    ['with credentials', { provider: 'gitprov_a', redirect_uri: 'https://a@example.com/git/callback' }],
    ['with a path for an organization', { provider: 'gitprov_a', organization: 'a/../b' }],
    [
      'with an organization of GitLab',
      { provider: 'gitprov_b', organization: 'a', client_id: 'a', client_secret: 'b' },
    ],
  ])('%s is refused', async (_what, body) => {
    expect(await authorize(body)).toMatchObject({ status: 400, body: { error: { code: 'invalid_request' } } })
  })

  it('without anything to go on with is refused', async () => {
    for (const body of [{}, { state: 'x' }, { code: 'y' }, { installation_id: -1 }, { installation_id: 'a' }])
      expect(await callback(body)).toMatchObject({ status: 400 })
    expect(await authorize({ connection_id: 'git-00000000000000000000' })).toMatchObject({ status: 404 })
  })
})

describe('a server that denies private addresses', () => {
  it('takes none for a repository or a provider', async () => {
    const strict = await startServer({ flags: ['--deny-private-git'] })
    onTestFinished(() => strict.stop())
    for (const url of [
      'http://127.0.0.1/a/b',
      'https://10.1.2.3/a/b',
      'git@192.168.0.1:a/b',
      'git://[fd00::1]/a/b',
    ]) {
      const asked = encodeURIComponent(url)
      for (const answer of [
        await strict.api('POST', '/services', { name: 'inside', repo_url: url }),
        await strict.api('POST', '/detect', { repo_url: url }),
        await strict.api('POST', '/blueprints', { name: 'inside', repo_url: url }),
        await strict.api('POST', '/blueprints/apply', { yaml: '', repo_url: url }),
        await strict.api('GET', `/blueprints/file?repo_url=${asked}`),
        await strict.api('GET', `/git/branches?repo_url=${asked}`),
      ])
        expect(answer).toMatchObject(failure(400, 'invalid_request', /^repo_url: .*private address/))
    }
    const body = { provider: 'gitprov_b', token: 'x', base_url: provider.url }
    expect(await strict.api('POST', '/git/connections', body)).toMatchObject(
      failure(400, 'invalid_request', /--deny-private-git/),
    )
    const byName = provider.url.replace('127.0.0.1', 'localhost')
    expect(await strict.api('POST', '/git/connections', { ...body, base_url: byName })).toMatchObject(
      failure(502, 'git_provider_unavailable', /leads to (127\.0\.0\.1|::1), which is a private address/),
    )
    expect(
      await strict.api('GET', `/git/branches?repo_url=${encodeURIComponent(`${byName}/a/b.git`)}`),
    ).toMatchObject(failure(502, 'git_remote_unreachable', /private address/))
  })
})
