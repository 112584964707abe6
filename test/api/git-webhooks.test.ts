import { createHmac, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { PlayedProvider, type PlayedApp } from '../git/providers.ts'
import { startServer, type ApiAnswer, type TestServer } from '../support/server.ts'

const SECRET = 'a secret of webhooks'
const AFTER = '9fceb02d0ae598e95dc970b74767f19372d61af8'
let server: TestServer
let provider: PlayedProvider

beforeAll(async () => {
  provider = await PlayedProvider.start('/nonexistent')
  server = await startServer({ flags: ['--webhook-secret', SECRET] })
})
afterAll(async () => {
  await server?.stop()
  await provider?.close()
})

type Payload = Record<string, unknown>

const fixture = (name: string): Payload =>
  JSON.parse(readFileSync(new URL(`../git/payloads/${name}.json`, import.meta.url), 'utf8')) as Payload

const sign = (text: string, secret: string) =>
  `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`

/** Delivers as GitHub does, signed with a secret. */
function deliver(
  payload: Payload | string,
  secret = SECRET,
  headers: Record<string, string> = {},
): Promise<ApiAnswer> {
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload)
  return server.request('POST', '/hooks/gitprov', text, {
    headers: {
      'content-type': 'application/json',
      'x-github-event': 'push',
      'x-github-delivery': randomUUID(),
      'x-hub-signature-256': sign(text, secret),
      ...headers,
    },
  })
}

let count = 0

async function service(repo_url: string, fields: object = {}): Promise<string> {
  const name = `hooked-${++count}`
  const { status, body } = await server.api('POST', '/services', { name, repo_url, deploy: false, ...fields })
  expect({ status, body }).toMatchObject({ status: 201 })
  onTestFinished(async () => void (await server.api('DELETE', `/services/${name}`)))
  return body.id as string
}

const deliveries = async (limit = 200): Promise<Payload[]> =>
  (await server.api('GET', `/git/deliveries?limit=${limit}`)).body as Payload[]

describe('a push as its provider documents it', () => {
  it.each([
    ['github-push', 'https://github.com/codertocat/hello-world', { 'x-github-event': 'push' }],
    ['gitea-push', 'https://gitea.example.com/gitea/webhooks.git', { 'x-gitea-event': 'push' }],
    [
      'forgejo-push',
      'ssh://git@codeberg.example.com:2222/forgejo/webhooks.git',
      { 'x-forgejo-event': 'push' },
    ],
  ])('of %s deploys', async (name, url, headers) => {
    const id = await service(url)
    const payload = { ...fixture(name), nonce: randomUUID() }
    expect(await deliver(payload, SECRET, headers)).toMatchObject({
      status: 200,
      body: {
        ok: true,
        ignored: false,
        deploys: [{ service_id: id, trigger: 'webhook', source: { commit: AFTER } }],
      },
    })
  })

  it('of GitLab deploys', async () => {
    const id = await service('http://example.com/mike/diaspora.git', { branch: 'main' })
    const answer = await server.request('POST', '/hooks/gitprov', JSON.stringify(fixture('gitlab-push')), {
      headers: {
        'content-type': 'application/json',
        'x-gitlab-event': 'Push Hook',
        'x-gitlab-event-uuid': randomUUID(),
        'x-gitlab-token': SECRET,
      },
    })
    expect(answer).toMatchObject({ status: 200, body: { deploys: [{ service_id: id }] } })
    const [{ repository, ref, commit, verdict, event }] = (await deliveries(1)) as [Payload]
    expect({ repository, ref, commit, verdict, event }).toEqual({
      repository: 'mike/diaspora',
      ref: 'refs/heads/main',
      commit: AFTER,
      verdict: 'deployed',
      event: 'Push Hook',
    })
  })
})

/** A push to a repository of its own, with these files. */
function push(name: string, files: string[], more: Payload = {}): Payload {
  return {
    ref: 'refs/heads/main',
    before: '6113728f27ae82c7b1a177c8d03f9e96e0adf246',
    after: AFTER,
    forced: false,
    created: false,
    repository: { clone_url: `https://git.example.com/${name}`, full_name: name, default_branch: 'main' },
    commits: [{ id: AFTER, message: 'x', added: [], removed: [], modified: files }],
    nonce: randomUUID(),
    ...more,
  }
}

describe('watched paths', () => {
  let place = 0
  beforeEach(() => void (place += 1))
  const watching = (watch_paths: string[]) =>
    service(`https://git.example.com/team/mono-${place}`, { watch_paths })
  const touching = (files: string[], more: Payload = {}) => deliver(push(`team/mono-${place}`, files, more))

  it.each([
    [['services/api/**'], ['services/api/src/a.ts']],
    [['services/api'], ['docs/a.md', 'services/api/a.ts']],
    [['services/api/'], ['services/api/a.ts']],
    [['**/*.ts'], ['a.ts']],
    [['*.json', 'docs/**'], ['package.json']],
    [['services/*/package.json'], ['services/web/package.json']],
  ])('%j deploy a push that touches %j', async (paths, files) => {
    await watching(paths)
    expect((await touching(files)).body.deploys).toHaveLength(1)
  })

  it.each([
    [['services/api/**'], ['services/api-docs/a.ts', 'README.md']],
    [['*.json'], ['web/package.json']],
    [['services/api'], ['services/apix']],
  ])('%j ignore a push that touches only %j, and say so', async (paths, files) => {
    await watching(paths)
    expect((await touching(files)).body).toMatchObject({
      ignored: true,
      reason: expect.stringMatching(/^the push changes no file that service hooked-\d+ watches$/),
    })
  })

  it.each<[string, Payload]>([
    ['is forced', { forced: true }],
    ['makes the branch', { created: true }],
    ['begins at nothing', { before: '0'.repeat(40) }],
    ['tells no commits', { commits: [] }],
    ['tells not all commits', { total_commits_count: 21 }],
    ['tells no files', { commits: [{ id: AFTER, message: 'x' }] }],
    [
      'does not list its last commit',
      { commits: [{ id: 'a'.repeat(40), added: [], removed: [], modified: ['docs/a'] }] },
    ],
    [
      'lists more names than can be matched against globs while others wait',
      {
        commits: Array.from({ length: 20 }, (_, commit) => ({
          id: commit === 19 ? AFTER : `${commit}`.padStart(40, 'a'),
          added: Array.from({ length: 299 }, (_, at) => `docs/${'long/'.repeat(20)}${commit}/${at}`),
          removed: [],
          modified: [],
        })),
      },
    ],
    [
      'touches as many files as are listed at most',
      {
        commits: [
          {
            id: AFTER,
            added: Array.from({ length: 300 }, (_, at) => `docs/${at}`),
            removed: [],
            modified: [],
          },
        ],
      },
    ],
  ])('deploy a push that %s, whatever it touches', async (_what, more) => {
    await watching(['services/api/**'])
    expect((await touching(['docs/a.md'], more)).body.deploys).toHaveLength(1)
  })

  it('keep one service from a push that deploys another, with the reason next to it', async () => {
    await watching(['web/**'])
    const other = await watching(['api/**'])
    expect((await touching(['api/a.ts'])).body).toMatchObject({
      ignored: false,
      reason: expect.stringMatching(/the push changes no file that service \S+ watches/),
      deploys: [{ service_id: other }],
    })
  })

  it('are kept, cleared and checked', async () => {
    const id = await watching(['a/**'])
    const patch = (watch_paths: unknown) => server.api('PATCH', `/services/${id}`, { watch_paths })
    expect((await patch(['b/*', 'c'])).body.watch_paths).toEqual(['b/*', 'c'])
    expect((await patch([])).body.watch_paths).toBeNull()
    expect((await patch(null)).body.watch_paths).toBeNull()
    for (const wrong of [['/a'], ['!a'], ['../a'], [''], ['[a'], 'a', [1], Array(51).fill('a')])
      expect(await patch(wrong)).toMatchObject({
        status: 400,
        body: { error: { message: expect.stringMatching(/^watch_paths/) } },
      })
  })
})

/** An app of the fake GitHub, connected. */
async function connectApp(owner: string): Promise<{ app: PlayedApp; id: string; installation: number }> {
  const redirect_uri = 'https://dashboard.example.com/git/callback'
  const begin = { provider: 'gitprov_a', base_url: provider.url, organization: owner, redirect_uri }
  const begun = await server.api('POST', '/git/authorize', begin)
  const stateOf = (answer: ApiAnswer) => new URL(answer.body.url as string).searchParams.get('state')
  const code = provider.register(JSON.parse(begun.body.fields.manifest) as Payload, owner)
  const converted = await server.api('POST', '/git/callback', { state: stateOf(begun), code })
  const app = [...provider.apps.values()].at(-1)!
  const installation = provider.install(app)
  const answer = await server.api('POST', '/git/callback', {
    state: stateOf(converted),
    installation_id: installation,
  })
  expect(answer).toMatchObject({ status: 200, body: { status: 'connected' } })
  return { app, installation, id: answer.body.connection.id as string }
}

describe("an app's own secret", () => {
  it("deploys its provider's repositories and no others", async () => {
    const { app } = await connectApp('octo-one')
    const place = provider.url.replace('http://', '')
    const own = await service(`${provider.url}/octo-one/api.git`)
    await service('https://git.example.com/octo-one/api')
    const mine = push('octo-one/api', ['a'], {
      repository: { clone_url: `${provider.url}/octo-one/api.git`, default_branch: 'main' },
    })
    expect((await deliver(mine, app.webhookSecret!)).body).toMatchObject({ deploys: [{ service_id: own }] })
    const foreign = push('octo-one/api', ['a'], {
      repository: { clone_url: 'https://git.example.com/octo-one/api', default_branch: 'main' },
    })
    expect((await deliver(foreign, app.webhookSecret!)).body).toMatchObject({ ignored: true })
    const elsewhere = await service(`http://${place.replace(/:\d+/, ':1')}/octo-one/api.git`)
    const again = await deliver({ ...mine, nonce: 'again' }, app.webhookSecret!)
    expect(again.body.deploys.map(({ service_id }: { service_id: string }) => service_id)).not.toContain(
      elsewhere,
    )
  })

  it('is forgotten with its connection', async () => {
    const { app, id } = await connectApp('octo-two')
    expect((await deliver({ zen: 'x' }, app.webhookSecret!, { 'x-github-event': 'ping' })).body).toEqual({
      ok: true,
    })
    await server.api('DELETE', `/git/connections/${id}`)
    expect(await deliver({ zen: 'y' }, app.webhookSecret!, { 'x-github-event': 'ping' })).toMatchObject({
      status: 401,
    })
  })

  it('reports that its app was removed, after which the connection is pending', async () => {
    const { app, id, installation } = await connectApp('octo-three')
    const event = { 'x-github-event': 'installation' }
    const other = { action: 'deleted', installation: { id: 1 } }
    expect((await deliver(other, app.webhookSecret!, event)).status).toBe(200)
    expect((await server.api('GET', `/git/connections/${id}`)).body.status).toBe('connected')
    const removed = { action: 'deleted', installation: { id: installation } }
    expect((await deliver(removed, SECRET, event)).body.reason).toMatch(/does not know/)
    expect((await deliver(removed, app.webhookSecret!, event)).body).toMatchObject({ ignored: true })
    expect((await server.api('GET', `/git/connections/${id}`)).body).toMatchObject({
      status: 'pending',
      manage_url: null,
    })
  })

  it('reports other repositories, after which the connection is read again', async () => {
    const { app, id, installation } = await connectApp('octo-four')
    app.installations.get(installation)!.selection = 'all'
    const added = { action: 'added', installation: { id: installation } }
    await deliver(added, app.webhookSecret!, { 'x-github-event': 'installation_repositories' })
    await expect
      .poll(
        async () => (await server.api('GET', `/git/connections/${id}`)).body.repository_selection as string,
      )
      .toBe('all')
  })

  it('enables the webhook if the server has no secret of its own', async () => {
    const bare = await startServer()
    onTestFinished(() => bare.stop())
    expect((await bare.request('POST', '/hooks/gitprov', '{}')).status).toBe(404)
    expect((await bare.api('GET', '/info')).body).toMatchObject({ gitprov_webhook_enabled: false })
    const main = server
    server = bare
    try {
      const { app } = await connectApp('octo-five')
      expect((await bare.api('GET', '/info')).body).toMatchObject({
        gitprov_webhook_enabled: true,
        gitprov_webhook_secret_set: false,
      })
      expect((await deliver({}, app.webhookSecret!, { 'x-github-event': 'ping' })).body).toEqual({ ok: true })
      expect((await deliver({}, 'another secret', { 'x-github-event': 'ping' })).status).toBe(401)
    } finally {
      server = main
    }
  })
})

describe('the log of deliveries', () => {
  it('shows the result of each, the newest first', async () => {
    const id = await service('https://git.example.com/log/one')
    const answer = await deliver(push('log/one', ['a']), SECRET, { 'x-github-delivery': 'first-one' })
    await deliver(push('log/nobody', ['a']), SECRET, { 'x-github-delivery': 'second-one' })
    const [second, first] = await deliveries(2)
    expect(first).toEqual({
      id: expect.stringMatching(/^dlv-[0-9a-f]{20}$/),
      at: expect.stringMatching(/Z$/),
      event: 'push',
      delivery: 'first-one',
      repository: 'log/one',
      ref: 'refs/heads/main',
      commit: AFTER,
      verdict: 'deployed',
      reason: null,
      deploys: [answer.body.deploys[0].id],
    })
    expect(answer.body.deploys[0].service_id).toBe(id)
    expect(second).toMatchObject({
      verdict: 'ignored',
      reason: expect.stringMatching(/^no service deploys/),
      deploys: [],
    })
  })

  it('keeps verified ones apart from forgeries, of which the last 50 are kept', async () => {
    await deliver({ zen: 'kept' }, SECRET, { 'x-github-event': 'ping', 'x-github-delivery': 'kept' })
    for (let index = 0; index < 60; index++)
      await deliver({}, 'wrong', { 'x-github-delivery': `forged-${index}` })
    const all = await deliveries()
    const refused = all.filter(({ verdict }) => verdict === 'refused')
    expect(refused).toHaveLength(50)
    expect(refused[0]).toMatchObject({
      delivery: 'forged-59',
      reason: 'the signature is missing or wrong',
      repository: null,
    })
    expect(all.some(({ delivery }) => delivery === 'kept')).toBe(true)
  })

  it.each([
    ['no signature', { 'x-hub-signature-256': '' }, 401],
    ['half a signature', { 'x-hub-signature-256': 'sha256=abcd' }, 401],
    ['a signature of another kind', { 'x-hub-signature-256': '', 'x-hub-signature': 'sha1=abcd' }, 401],
    ['another token', { 'x-hub-signature-256': '', 'x-gitlab-token': 'x' }, 401],
  ])('lists a delivery with %s', async (_what, headers, status) => {
    expect((await deliver({ nonce: randomUUID() }, SECRET, headers)).status).toBe(status)
    expect((await deliveries(1))[0]).toMatchObject({ verdict: 'refused' })
  })

  it('lists a delivery that is not JSON', async () => {
    expect(await deliver('no JSON', SECRET)).toMatchObject({ status: 400 })
    expect((await deliveries(1))[0]).toMatchObject({
      verdict: 'refused',
      reason: expect.stringMatching(/not valid JSON/),
    })
  })

  it('has as many as were requested', async () => {
    expect(await deliveries(1)).toHaveLength(1)
    expect(await deliveries(0)).toHaveLength(1)
    expect((await server.api('GET', '/git/deliveries?limit=a')).status).toBe(400)
  })
})
