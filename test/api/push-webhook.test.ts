import { execFile } from 'node:child_process'
import { createHmac, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { databaseOf } from '../support/database.ts'
import { startServer, type ApiAnswer, type TestServer } from '../support/server.ts'

const SECRET = 'a secret of webhooks'
const AFTER = '9fceb02d0ae598e95dc970b74767f19372d61af8'
/** The id of a tag that has a message. */
const OBJECT = 'a'.repeat(40)
let server: TestServer

beforeAll(async () => {
  server = await startServer({ flags: ['--webhook-secret', SECRET] })
})
afterAll(() => server?.stop())

let count = 0

/** A repository of its own, with a service that deploys its branch. */
async function repository(fields: object = {}): Promise<{ url: string; name: string; id: string }> {
  const name = `pushed-${++count}`
  const url = `https://git.example.com/Team/${name}.git`
  const { status, body } = await server.api('POST', '/services', {
    name,
    repo_url: url,
    branch: 'main',
    deploy: false,
    ...fields,
  })
  expect({ status, body }).toMatchObject({ status: 201 })
  return { url, name, id: body.id as string }
}

function payloadOf(url: string, more: object = {}): object {
  return {
    ref: 'refs/heads/main',
    after: AFTER,
    head_commit: { message: 'Answer in JSON' },
    repository: { clone_url: url, default_branch: 'main' },
    // What makes this delivery unique.
    pusher: { id: randomUUID() },
    ...more,
  }
}

function signed(text: string, secret = SECRET): string {
  return `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`
}

function deliver(payload: object | string, headers: Record<string, string> = {}): Promise<ApiAnswer> {
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload)
  return server.request('POST', '/hooks/gitprov', text, {
    headers: { 'x-hook-event': 'push', 'x-hook-signature-256': signed(text), ...headers },
  })
}

/** Changes the running server's own database. */
function withDatabase<T>(work: (database: DatabaseSync) => T): T {
  const database = databaseOf(server.dataDirectory)
  try {
    return work(database)
  } finally {
    database.close()
  }
}

/** Makes the database refuse deploys of a service, until the returned function is called. */
function failDeploysOf(serviceId: string): () => void {
  const trigger = `fail_${serviceId.replace('-', '_')}`
  withDatabase((database) =>
    database.exec(`CREATE TRIGGER ${trigger} BEFORE INSERT ON deploys WHEN NEW.service_id = '${serviceId}'
      BEGIN SELECT RAISE(ABORT, 'the disk is on fire'); END`),
  )
  return () => withDatabase((database) => database.exec(`DROP TRIGGER ${trigger}`))
}

const ignored = (reason: RegExp) => ({
  status: 200,
  body: { ok: true, ignored: true, deploys: [], reason: expect.stringMatching(reason) },
})

describe('a push', () => {
  it('deploys the service of its repository and branch at its commit', async () => {
    const { url, id, name } = await repository()
    const answer = await deliver(payloadOf(url))
    expect(answer).toMatchObject({ status: 200, body: { ok: true, ignored: false, reason: null } })
    expect(answer.body.deploys).toMatchObject([
      { service_id: id, status: 'queued', trigger: 'webhook', source: { kind: 'git', commit: AFTER } },
    ])
    const [event] = (await server.api('GET', '/audit-events?actor=webhook&limit=1')).body
    expect(event.changes).toEqual([`service ${name}: ${answer.body.deploys[0].id}`])
  })

  it.each([
    ['over ssh', (name: string) => ({ ssh_url: `git@git.example.com:team/${name}.git` })],
    ['by its page', (name: string) => ({ html_url: `https://git.example.com/team/${name}` })],
    ['by another port', (name: string) => ({ clone_url: `https://GIT.example.com:8443/team/${name}/` })],
  ])('finds a repository that is named %s', async (_how, urls) => {
    const { name, url } = await repository()
    const payload = payloadOf(url, { repository: { ...urls(name), default_branch: 'main' } })
    expect((await deliver(payload)).body.deploys).toHaveLength(1)
  })

  it('that came before its service deploys it when it is delivered again', async () => {
    const name = `pushed-${count + 1}`
    const payload = payloadOf(`https://git.example.com/Team/${name}.git`)
    expect(await deliver(payload)).toMatchObject(ignored(/no service deploys the branch main/))
    await repository()
    expect((await deliver(payload)).body.deploys).toHaveLength(1)
    expect(await deliver(payload)).toMatchObject(ignored(/already handled/))
  })

  it('deploys every service that it is for, and the default branch if none is set', async () => {
    const { url } = await repository()
    await repository({ repo_url: url, branch: null })
    await repository({ repo_url: url, branch: 'develop' })
    await repository({ repo_url: url, auto_deploy: false })
    const { deploys } = (await deliver(payloadOf(url))).body
    expect(deploys).toMatchObject([{ source: { branch: 'main' } }, { source: { branch: 'main' } }])
    const develop = await deliver(payloadOf(url, { ref: 'refs/heads/develop' }))
    expect(develop.body.deploys).toHaveLength(1)
  })

  it.each(['[skip deploy]', '[Deploy Skip]', '[skip CD]', '[SKIP CI]', '[ci skip]', '[no ci]'])(
    'whose message says %s deploys nothing',
    async (phrase) => {
      const { url } = await repository()
      const payload = payloadOf(url, { head_commit: { message: `Mend a word\n\n${phrase}` } })
      expect(await deliver(payload)).toMatchObject(ignored(/message says \[/))
    },
  )

  it('to a suspended service deploys the others and says why not this one', async () => {
    const { url, name } = await repository()
    const other = await repository({ repo_url: url })
    await server.api('POST', `/services/${name}/suspend`)
    const answer = await deliver(payloadOf(url))
    expect(answer.body).toMatchObject({ ignored: false, reason: expect.stringMatching(/suspended/) })
    expect(answer.body.deploys).toMatchObject([{ service_id: other.id }])
    await server.api('POST', `/services/${other.name}/suspend`)
    expect(await deliver(payloadOf(url))).toMatchObject(ignored(/suspended/))
  })

  it('to a service that is being deleted says so', async () => {
    const { url, name, id } = await repository()
    await server.api('DELETE', `/services/${id}`)
    expect(await deliver(payloadOf(url))).toMatchObject(ignored(new RegExp(`${name} is being deleted`)))
  })

  it('reaches the services of every environment', async () => {
    const environment = await server.api('POST', '/environments', { name: 'staging' })
    expect(environment).toMatchObject({ status: 201 })
    const { url, id } = await repository()
    const staged = await repository({ repo_url: url, environment: 'staging' })
    const { deploys } = (await deliver(payloadOf(url))).body
    expect(deploys.map((deploy: { service_id: string }) => deploy.service_id).toSorted()).toEqual(
      [id, staged.id].toSorted(),
    )
  })

  it('deploys the others when the server fails at one, and reveals nothing of the cause', async () => {
    const { url, name, id } = await repository()
    const other = await repository({ repo_url: url })
    const release = failDeploysOf(id)
    try {
      const { status, body } = await deliver(payloadOf(url))
      expect({ status, deploys: body.deploys }).toMatchObject({
        status: 200,
        deploys: [{ service_id: other.id }],
      })
      expect(body.reason).toBe(`service ${name} could not be deployed: see the server log`)
    } finally {
      release()
    }
  })

  it('that the server failed at is an error, and is accepted when it is delivered again', async () => {
    const { url, id } = await repository()
    const payload = payloadOf(url)
    const release = failDeploysOf(id)
    try {
      expect(await deliver(payload, { 'x-hook-delivery': 'failed' })).toMatchObject({
        status: 500,
        body: { error: { code: 'database_error' } },
      })
    } finally {
      release()
    }
    expect((await deliver(payload, { 'x-hook-delivery': 'failed' })).body.deploys).toHaveLength(1)
  })

  it.each([
    ['of a tag that nobody deploys', { ref: 'refs/tags/v1' }, /^no service deploys the tag v1 /],
    ['of neither a branch nor a tag', { ref: 'refs/merge-requests/1/head' }, /neither a branch nor a tag/],
    ['that deletes a tag', { ref: 'refs/tags/v1', after: '0'.repeat(40) }, /tag v1 was deleted/],
    ['that deletes a branch', { after: '0'.repeat(40) }, /deleted/],
    ['to a branch that nobody deploys', { ref: 'refs/heads/other' }, /no service/],
    [
      'to a repository that nobody deploys',
      { repository: { clone_url: 'https://example.com/x/y' } },
      /no service/,
    ],
  ])('%s is ignored with the reason', async (_what, change, reason) => {
    const { url } = await repository()
    expect(await deliver(payloadOf(url, change))).toMatchObject(ignored(reason))
  })

  it.each([
    ['a commit', { after: AFTER }, {}],
    ['a tag with a message, of GitHub', { after: OBJECT, head_commit: { id: AFTER, message: 'x' } }, {}],
    [
      'a tag with a message, of GitLab',
      { after: OBJECT, checkout_sha: AFTER },
      { 'x-hook-event': 'Tag Push Hook' },
    ],
  ])('of the tag that a service deploys, %s, deploys its commit', async (_what, told, headers) => {
    const { url, id } = await repository({ branch: 'v1' })
    const { url: other } = await repository({ branch: null })
    const push = { ref: 'refs/tags/v1', before: '0'.repeat(40), ...told }
    expect((await deliver(payloadOf(url, push), headers)).body.deploys).toMatchObject([
      { service_id: id, source: { commit: AFTER, branch: 'v1' } },
    ])
    expect(await deliver(payloadOf(other, push), headers)).toMatchObject(
      ignored(/no service deploys the tag/),
    )
  })

  it('that is delivered again, by its body or its id, is ignored', async () => {
    const { url } = await repository()
    const payload = payloadOf(url)
    expect((await deliver(payload, { 'x-hook-delivery': 'one' })).body.deploys).toHaveLength(1)
    expect(await deliver(payload, { 'x-hook-delivery': 'two' })).toMatchObject(ignored(/already handled/))
    expect(await deliver(payloadOf(url), { 'x-hook-delivery': 'one' })).toMatchObject(
      ignored(/already handled/),
    )
  })

  it('is recognized after a restart of the server', async () => {
    const { url } = await repository()
    const payload = payloadOf(url)
    expect((await deliver(payload)).body.deploys).toHaveLength(1)
    await server.restart()
    expect(await deliver(payload)).toMatchObject(ignored(/already handled/))
  })

  it('is remembered for the newest thousands of deliveries and no more', async () => {
    const { url } = await repository()
    await deliver(payloadOf(url))
    withDatabase((database) =>
      database.exec(`INSERT INTO webhook_deliveries (body_digest, received_at)
        WITH RECURSIVE counter (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < 6000)
        SELECT 'filler ' || n, 0 FROM counter`),
    )
    const payload = payloadOf(url)
    expect((await deliver(payload)).body.deploys).toHaveLength(1)
    const kept = withDatabase((database) =>
      database.prepare('SELECT count(*) AS count FROM webhook_deliveries').get(),
    )
    expect(kept).toEqual({ count: 5_000 })
    expect(await deliver(payload)).toMatchObject(ignored(/already handled/))
  })
})

describe('each provider is supported', () => {
  it('GitHub, Gitea and Forgejo by their own headers', async () => {
    const { url } = await repository()
    const text = JSON.stringify(payloadOf(url))
    const answer = await server.request('POST', '/hooks/gitprov', text, {
      headers: {
        'x-github-event': 'push',
        'x-hub-signature-256': signed(text),
        'x-github-delivery': randomUUID(),
      },
    })
    expect(answer.body.deploys).toHaveLength(1)
  })

  it('GitLab by its token and its payload', async () => {
    const { url } = await repository()
    const payload = {
      object_kind: 'push',
      ref: 'refs/heads/main',
      after: AFTER,
      commits: [{ id: AFTER, message: 'Answer in JSON' }],
      project: { git_http_url: url, default_branch: 'main' },
      event_id: randomUUID(),
    }
    const send = (token: string) =>
      server.request('POST', '/hooks/gitprov', JSON.stringify(payload), {
        headers: { 'x-gitlab-event': 'Push Hook', 'x-gitlab-token': token },
      })
    expect((await send('wrong')).status).toBe(401)
    expect((await send(SECRET)).body.deploys).toHaveLength(1)
  })

  it.each(['application/x-www-form-urlencoded', 'Application/X-WWW-Form-URLEncoded; charset=UTF-8'])(
    'a form that carries the payload: %s',
    async (type) => {
      const { url } = await repository()
      const form = new URLSearchParams({ payload: JSON.stringify(payloadOf(url)) }).toString()
      const answer = await deliver(form, { 'content-type': type })
      expect(answer.body.deploys).toHaveLength(1)
    },
  )
})

describe('a delivery', () => {
  it('of a ping is answered ok and nothing else', async () => {
    const answer = await deliver({ zen: 'x' }, { 'x-hook-event': 'ping' })
    expect(answer).toMatchObject({ status: 200 })
    expect(answer.body).toEqual({ ok: true })
  })

  it('of another event is ignored', async () => {
    expect(await deliver({ action: 'opened' }, { 'x-hook-event': 'issues' })).toMatchObject(ignored(/issues/))
  })

  it.each([
    ['without a signature', { 'x-hook-signature-256': '' }],
    ['with another secret', { 'x-hook-signature-256': signed('{}', 'another') }],
    ['with a signature of another body', { 'x-hook-signature-256': signed('other') }],
    ['with half a signature', { 'x-hook-signature-256': signed('{}').slice(0, 20) }],
  ])('%s is refused before its body is read', async (_what, headers) => {
    for (const body of ['{}', 'no json at all'])
      expect(await deliver(body, headers)).toMatchObject({
        status: 401,
        body: { error: { code: 'unauthorized' } },
      })
  })

  it('is checked by its signature only, whatever its address contains', async () => {
    const ask = (headers: Record<string, string>) =>
      server.request('POST', '/hooks/gitprov?secret=1&x', '{}', {
        headers: { 'x-hook-event': 'ping', ...headers },
      })
    expect(await ask({})).toMatchObject({ status: 401, body: { error: { code: 'unauthorized' } } })
    expect(await ask({ 'x-hook-signature-256': signed('{}') })).toMatchObject({
      status: 200,
      body: { ok: true },
    })
  })

  it.each([
    ['no JSON', 'ref=main'],
    ['no push', '{"a":1}'],
    ['a commit that is none', JSON.stringify({ ref: 'refs/heads/main', after: '-x' })],
    ['a part of a commit', JSON.stringify({ ref: 'refs/heads/main', after: AFTER + AFTER.slice(1, 9) })],
  ])('that is signed but contains %s is 400', async (_what, body) => {
    expect(await deliver(body)).toMatchObject({ status: 400, body: { error: { code: 'invalid_request' } } })
  })

  it('may have 25 MiB and no more', async () => {
    const large = JSON.stringify({ filler: 'x'.repeat(24 * 1024 * 1024) })
    expect((await deliver(large, { 'x-hook-event': 'ping' })).status).toBe(200)
    const larger = 'x'.repeat(25 * 1024 * 1024 + 1)
    expect(await deliver(larger)).toMatchObject({
      status: 413,
      body: { error: { code: 'payload_too_large' } },
    })
  })
})

it('the server says that it accepts pushes, and without a secret there is nothing at the address', async () => {
  expect((await server.api('GET', '/info')).body).toMatchObject({
    gitprov_webhook_enabled: true,
    gitprov_webhook_secret_set: true,
  })
  const without = await startServer()
  try {
    const answer = await without.request('POST', '/hooks/gitprov', '{}')
    expect(answer).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
  } finally {
    await without.stop()
  }
})

describe('the commands in the documentation', () => {
  const ADDRESS = 'http://127.0.0.1:7878'
  const text = readFileSync(new URL('../../docs/hooks.md', import.meta.url), 'utf8')
  const commands = [...text.matchAll(/```sh\n([^`]*)```/g)].map(([, command]) => command!)

  /** Runs the only command that contains this, as its reader would, and returns what the server said. */
  async function run(part: string, variables: Record<string, string>): Promise<ApiAnswer['body']> {
    const [command = '', ...others] = commands.filter((text) => text.includes(part))
    expect({ part, others }).toEqual({ part, others: [] })
    const { stdout } = await promisify(execFile)(
      'bash',
      ['-euo', 'pipefail', '-c', command.replaceAll(ADDRESS, server.url)],
      { env: { PATH: process.env.PATH, ...variables } },
    )
    return JSON.parse(stdout)
  }

  async function hooked(name: string, source: object): Promise<Record<string, string>> {
    const { body } = await server.api('POST', '/services', { name, deploy: false, ...source })
    return { SERVICE: body.id, KEY: body.deploy_hook_key }
  }

  it('deploy with the hook what is configured or what they name, and create a new key', async () => {
    const repository = await hooked('documented', { repo_url: 'https://git.example.com/x/y.git' })
    const image = await hooked('documented-image', { image: 'registry.example.com/team/api:1' })
    expect(await run('?key=$KEY"', repository)).toMatchObject({ trigger: 'deploy_hook', status: 'queued' })
    expect(await run('&ref=', repository)).toMatchObject({ source: { commit: '9fceb02' } })
    expect(await run('&image=', image)).toMatchObject({ image: 'registry.example.com/team/api:2' })
    const rotated = await run('/rotate', { ...repository, TOKEN: server.token })
    expect(rotated.deploy_hook_key).not.toBe(repository.KEY)
    expect(await run('?key=$KEY"', repository)).toMatchObject({ error: { code: 'unauthorized' } })
  })

  it('push as GitHub and as GitLab do', async () => {
    await repository({ repo_url: 'https://git.example.com/team/api.git' })
    const deployed = {
      ok: true,
      ignored: false,
      deploys: [{ trigger: 'webhook', source: { commit: AFTER } }],
    }
    expect(await run('X-Hook-Event', { SECRET })).toMatchObject(deployed)
    expect(await run('X-Gitlab-Event', { SECRET })).toMatchObject(deployed)
  })

  it('are each run here', () => {
    expect(commands).toHaveLength(6)
  })
})
