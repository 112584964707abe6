import { describe, expect, it } from 'vitest'
import { type PlayedApp } from '../git/providers.ts'
import { databaseOf } from '../support/database.ts'
import { type ApiAnswer } from '../support/server.ts'

import {
  branches,
  branchTip,
  CALLBACK,
  failure,
  listed,
  provider,
  server,
  useProvider,
} from './git-provider.ts'
useProvider()

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
  it('is registered with a manifest that asks for what it needs and no more', async () => {
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

  it('of a dashboard that the internet cannot reach gets no webhook', async () => {
    const redirect_uri = 'http://127.0.0.1:7878/git/callback'
    const { body } = await authorize({ provider: 'gitprov_a', redirect_uri })
    expect(body.url).toMatch(/^https:\/\/github\.com\/settings\/apps\/new\?state=/)
    expect(JSON.parse(body.fields.manifest)).not.toHaveProperty('hook_attributes')
  })

  it('is connected once it is installed, and reads with short-lived tokens that are created once', async () => {
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

  it('keeps nothing secret in plain sight', async () => {
    const { app } = await connectApp('sealed-org')
    const database = databaseOf(server.dataDirectory)
    const dump = JSON.stringify(
      database.prepare('SELECT * FROM git_connections').all(),
      (_, value: unknown) => (value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value),
    )
    database.close()
    expect(dump).toContain('sealed-org')
    for (const secret of [app.pem.slice(40, 80), app.webhookSecret!, 'an app secret'])
      expect(dump).not.toContain(secret)
  })

  it('accepts each state once, and none that nobody created', async () => {
    const { state, app } = await connectApp('once-org')
    const installation_id = [...app.installations.keys()][0]
    for (const used of [state, 'f'.repeat(40), 'x'])
      expect(await callback({ state: used, installation_id })).toMatchObject(
        failure(409, 'git_authorization_rejected', /the state is unknown, already used/),
      )
  })

  it('continues where it was left, at each step', async () => {
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

  it('is read again by only an installation, and an unknown one belongs to nobody', async () => {
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

  it('that the provider does not create leaves a pending connection', async () => {
    const { body } = await authorize({
      provider: 'gitprov_a',
      base_url: provider.url,
      organization: 'half-org',
    })
    expect(await callback({ state: stateIn(body.url), code: 'no-such-code' })).toMatchObject(
      failure(409, 'git_authorization_rejected', /did not create the app: Not Found/),
    )
    expect(await listed()).toMatchObject([{ id: body.connection.id, status: 'pending', account: null }])
  })
})

describe('a token that the provider ended early', () => {
  const sha = () => branchTip('octo-org/api')

  /** An app with a token in use, and what its provider is asked for from now on. */
  async function connectInUse(): Promise<{ id: string; revoke: () => void; mints: () => number }> {
    provider.add('octo-org/api', ['octo-org'])
    const { app, answer } = await connectApp()
    const [installation] = app.installations.values()
    const { id } = answer.body.connection as { id: string }
    expect((await repositories(id)).status).toBe(200)
    provider.asked.length = 0
    return {
      id,
      revoke: () => void (installation!.token = null),
      mints: () => provider.asked.filter(({ path }) => path.endsWith('/access_tokens')).length,
    }
  }
  const repositories = (id: string) => server.api('GET', `/git/connections/${id}/repositories`)
  const url = () => `${provider.url}/octo-org/api.git`

  it.each<[string, (id: string) => Promise<ApiAnswer>]>([
    ['repositories', repositories],
    ['branches', () => branches(url())],
    ['a clone', () => server.api('POST', '/detect', { repo_url: url() })],
  ])('is replaced once, and %s are read', async (_what, read) => {
    const { id, revoke, mints } = await connectInUse()
    revoke()
    for (const { status, body } of await Promise.all([read(id), read(id)]))
      expect({ status, body }).toMatchObject({ status: 200 })
    expect((await read(id)).status).toBe(200)
    expect(mints()).toBeLessThanOrEqual(1)
  })

  it('is replaced once, and the status of a commit is reported', async () => {
    const { revoke, mints } = await connectInUse()
    const name = 'told'
    const made = await server.api('POST', '/services', { name, repo_url: url(), deploy: false })
    expect(made).toMatchObject({ status: 201 })
    revoke()
    const begun = await server.api('POST', `/services/${name}/deploys`, { commit: sha() })
    expect(begun).toMatchObject({ status: 202 })
    await expect.poll(() => provider.statuses.at(-1)).toMatchObject({ sha: sha() })
    expect(mints()).toBe(1)
    await server.api('DELETE', `/services/${name}`)
  })

  it.each([401, 403])('is replaced at most once for one request that is answered with %d', async (status) => {
    const { id, mints } = await connectInUse()
    provider.instead.set('GET /api/v3/installation/repositories', (response) =>
      response.writeHead(status).end('{"message":"Resource not accessible by integration"}'),
    )
    expect(await repositories(id)).toMatchObject(
      failure(409, 'git_authorization_rejected', /Resource not accessible by integration/),
    )
    expect(mints()).toBe(1)
    expect(provider.asked.filter(({ path }) => path.includes('/repositories'))).toHaveLength(2)
  })

  it('is used again when the installation was suspended and is back', async () => {
    const { id, revoke } = await connectInUse()
    revoke()
    provider.instead.set('POST /api/v3/app/installations', (response) =>
      response.writeHead(403).end('{"message":"This installation has been suspended"}'),
    )
    for (const answer of [await repositories(id), await branches(url())])
      expect(answer).toMatchObject(failure(409, 'git_authorization_rejected', /has been suspended/))
    provider.instead.clear()
    expect((await repositories(id)).status).toBe(200)
    expect((await branches(url())).status).toBe(200)
  })

  it('is not replaced while the provider answers no more requests', async () => {
    const { id, mints } = await connectInUse()
    provider.instead.set('GET /api/v3/installation/repositories', (response) =>
      response.writeHead(403, { 'retry-after': '60' }).end('{"message":"a secondary rate limit"}'),
    )
    expect(await repositories(id)).toMatchObject(
      failure(502, 'git_provider_unavailable', /has reached its rate limit/),
    )
    expect(mints()).toBe(0)
  })
})

describe('an OAuth authorization of GitLab', () => {
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

  it('is renewed before it expires, once for all simultaneous requests', async () => {
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

  it('is renewed after its token was ended early, but not for what it may not do', async () => {
    provider.add('octo-org/api', ['ada'])
    const { body } = await connectOAuth()
    const renewals = () => provider.asked.filter(({ path }) => path === '/oauth/token').length
    const read = () => server.api('GET', `/git/connections/${body.connection.id}/repositories`)
    for (const ask of [read, () => branches(`${provider.url}/octo-org/api.git`)]) {
      provider.expire()
      provider.asked.length = 0
      const answers = await Promise.all([ask(), ask(), ask()])
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
      expect(renewals()).toBe(1)
    }
    provider.instead.set('GET /api/v4/projects', (response) =>
      response.writeHead(403).end('{"message":"insufficient_scope"}'),
    )
    expect(await read()).toMatchObject(failure(409, 'git_authorization_rejected', /insufficient_scope/))
    expect(renewals()).toBe(1)
  })

  it('survives a provider that breaks off during a renewal', async () => {
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
      failure(409, 'git_authorization_rejected', /did not grant access/),
    )
    expect(await listed()).toMatchObject([{ status: 'pending' }])
  })

  it('stays connected if there is nothing left to do', async () => {
    const { body } = await connectOAuth()
    const { id } = body.connection
    expect(await authorize({ connection_id: id })).toMatchObject({
      body: { status: 'connected', connection: { id } },
    })
  })
})

describe('half of an OAuth application', () => {
  const half = { client_id: 'only' }

  it('is ignored for GitHub, whose apps have none', async () => {
    const { status, body } = await authorize({ provider: 'gitprov_a', base_url: provider.url, ...half })
    expect({ status, body }).toMatchObject({ status: 200, body: { connection: { client_id: null } } })
    const again = await authorize({ connection_id: body.connection.id, ...half })
    expect(again).toMatchObject({ status: 200, body: { status: 'redirect' } })
  })

  it('is refused for GitLab, also when a connection is resumed', async () => {
    const whole = { client_id: 'client-1', client_secret: 'client-secret-1' }
    const begun = { provider: 'gitprov_b', base_url: provider.url, ...whole }
    const { body } = await authorize(begun)
    const refused = failure(400, 'invalid_request', /^client_id: /)
    expect(await authorize({ connection_id: body.connection.id, ...half })).toMatchObject(refused)
    expect(await authorize({ connection_id: body.connection.id, client_secret: 'only' })).toMatchObject(
      refused,
    )
  })
})

describe('something that cannot begin', () => {
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

  it('without anything to continue with is refused', async () => {
    for (const body of [{}, { state: 'x' }, { code: 'y' }, { installation_id: -1 }, { installation_id: 'a' }])
      expect(await callback(body)).toMatchObject({ status: 400 })
    expect(await authorize({ connection_id: 'git-00000000000000000000' })).toMatchObject({ status: 404 })
  })
})
