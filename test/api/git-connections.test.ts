import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { client } from '../cli/client.ts'
import { startServer } from '../support/server.ts'

import {
  addSubmodule,
  branches,
  connect,
  failure,
  listed,
  makeRepository,
  provider,
  server,
  useProvider,
} from './git-provider.ts'
useProvider()

describe('a personal access token', () => {
  it.each(['gitprov_a', 'gitprov_b'] as const)(
    'of %s is checked for its owner, and only a hint of it is shown',
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
      'the same in another spelling',
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
      /an unexpected shape/,
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
      /redirects to another address/,
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
    'that answers %s is reported as such, and nothing stays',
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

  it('that redirects on its own host is followed, without a change of the request', async () => {
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
  it('are listed by the command line, of one account or of all', async () => {
    const { body } = await connect()
    for (const words of [[], [body.id]])
      expect(await client(server, 'git', 'repositories', ...words)).toEqual({
        code: 0,
        out: expect.stringMatching(/^octo-org\/api\tmain\tprivate\t\S*\thttp\S+\/octo-org\/api\.git\n$/),
        error: '',
      })
    expect(await client(server, 'git', 'repositories', 'git-none')).toMatchObject({ code: 4, out: '' })
  })

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

  it('are limited to a thousand, and the answer says so', async () => {
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
  it('in somebody else’s repository gets nothing that belongs to the account', async () => {
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

describe('branches', () => {
  it('of a private repository are read with the connection that serves it', async () => {
    const { body } = await connect()
    const url = `${provider.url}/octo-org/api.git`
    expect(await branches(url)).toMatchObject({
      status: 200,
      body: { branches: ['main', 'next'], default_branch: 'main', connection_id: body.id },
    })
  })

  it('of a repository that no connected account may read are refused', async () => {
    provider.add('octo-org/api', [])
    expect(await branches(`${provider.url}/octo-org/api.git`)).toMatchObject(
      failure(409, 'git_authorization_rejected', /does not exist or is private/),
    )
  })

  it('are read with the credentials in the address, if there are any', async () => {
    await connect()
    const url = `${provider.url}/octo-org/api.git`.replace('://', '://x:wrong@')
    expect(await branches(url)).toMatchObject(
      failure(409, 'git_authorization_rejected', /refused the credentials/),
    )
  })

  it('of a host that redirects elsewhere are not read there, by whatever name', async () => {
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
  ])('of %s are never requested', async (url) => {
    expect(await branches(url)).toMatchObject(failure(400, 'invalid_request', /never connected to/))
    expect(await server.api('POST', '/services', { name: 'elsewhere', repo_url: url })).toMatchObject(
      failure(400, 'invalid_request', /^repo_url: .*never connected to/),
    )
  })
})

describe('a connection that services are cloned with', () => {
  it('is only removed with force, and names them', async () => {
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

describe('a server that denies private addresses', () => {
  it('allows none for a repository or a provider', async () => {
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
      failure(502, 'git_provider_unavailable', /resolves to (127\.0\.0\.1|::1), which is a private address/),
    )
    expect(
      await strict.api('GET', `/git/branches?repo_url=${encodeURIComponent(`${byName}/a/b.git`)}`),
    ).toMatchObject(failure(502, 'git_remote_unreachable', /private address/))
  })
})
