import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { databaseOf } from '../support/database.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { refusal } from './account-client.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

/** In every password. */
const SECRET = 'hidden-pass'

const patch = (name: string, fields: object) => server.api('PATCH', `/services/${name}`, fields)

/** The hashes that are kept, by user name. */
function hashes(table: 'services' | 'environments', name: string): Record<string, string> {
  const database = databaseOf(server.dataDirectory)
  try {
    const row = database.prepare(`SELECT basic_auth FROM ${table} WHERE name = ?`).get(name)!
    const kept = JSON.parse(row.basic_auth as string) as { users: { username: string; hash: string }[] }
    return Object.fromEntries(kept.users.map(({ username, hash }) => [username, hash]))
  } finally {
    database.close()
  }
}

function named(...usernames: string[]): object[] {
  return usernames.map((username) => ({ username, password: null }))
}

async function newestChanges(action: string): Promise<string[]> {
  return (await server.api('GET', `/audit-events?limit=1&action=${action}`)).body[0].changes
}

describe('what a service asks for at its edge', () => {
  it('is shown with what follows from it, holds at once, and goes with null', async () => {
    const made = await server.api('POST', '/services', {
      name: 'whole',
      deploy: false,
      ip_allow_list: [{ source: '203.0.113.0/24', description: 'office' }, { source: '::1' }],
      redirects: [{ from: '/old/*', to: '/new/:splat' }],
      maintenance: { enabled: true },
      rate_limit: { requests: 20 },
      headers: [{ name: 'X-Frame-Options', value: 'DENY' }],
    })
    const edge = {
      ip_allow_list: [
        { source: '203.0.113.0/24', description: 'office' },
        { source: '::1', description: null },
      ],
      redirects: [{ from: '/old/*', to: '/new/:splat', status: 308 }],
      maintenance: { enabled: true, message: null, page: null, retry_after_seconds: 60, allow_ips: [] },
      rate_limit: { requests: 20, period_seconds: 60, burst: 20 },
      headers: [{ path: '/*', name: 'X-Frame-Options', value: 'DENY' }],
    }
    expect(made).toMatchObject({ status: 201, body: edge })
    const nothing = Object.fromEntries(Object.keys(edge).map((field) => [field, null]))
    const cleared = await patch('whole', nothing)
    expect(cleared).toMatchObject({ status: 200, body: nothing })
    expect(cleared.body.settings_updated_at).toBe(made.body.settings_updated_at)
    const empty = await patch('whole', { ip_allow_list: [], redirects: [], headers: [] })
    expect(empty.body).toMatchObject({ ip_allow_list: [], redirects: null, headers: null })
  })

  it('stays whole when a field is refused, which is named with its path', async () => {
    await server.api('POST', '/services', { name: 'exact', deploy: false })
    const before = (await server.api('GET', '/services/exact')).body
    for (const [fields, message] of [
      [{ ip_allow_list: [{ source: '::1' }, { source: 'here' }] }, /^ip_allow_list\.1\.source: here is not/],
      [{ redirects: [{ from: '/a', to: '/:b' }] }, /^redirects\.0\.to: :b does not occur in \/a/],
      [
        {
          redirects: [
            { from: '/a', to: '/b' },
            { from: '/b', to: '/a' },
          ],
        },
        /^redirects\.0\.to: .*\/a -> \/b -> \/a/,
      ],
      [{ maintenance: { enabled: true, page: 'é'.repeat(40_000) } }, /^maintenance\.page: /],
      [{ basic_auth: { users: named('ada') } }, /^basic_auth\.users\.0\.password: is required for ada/],
      [{ headers: [{ name: 'Set-Cookie', value: 'a=b' }] }, /^headers\.0\.name: /],
    ] as const) {
      const answer = await patch('exact', { access_log: true, ...fields })
      expect(answer).toMatchObject(refusal(400, 'invalid_request'))
      expect(answer.body.error.message).toMatch(message)
    }
    expect((await server.api('GET', '/services/exact')).body).toEqual(before)
  })
})

describe('passwords of users', () => {
  it('are kept as hashes, never shown, and stay with null until the user goes', async () => {
    const users = ['ada', 'bob'].map((username) => ({ username, password: `${SECRET} of ${username}` }))
    await server.api('POST', '/services', { name: 'shut', deploy: false })
    const set = await patch('shut', { basic_auth: { users, except_paths: ['/webhooks/*'] } })
    expect(set.body.basic_auth).toEqual({ users: named('ada', 'bob'), except_paths: ['/webhooks/*'] })
    const first = hashes('services', 'shut')
    expect(first.ada).toMatch(/^\$scrypt\$ln=14,r=8,p=5\$[\w+/]{22}\$[\w+/]{43}$/)

    const changed = await patch('shut', {
      basic_auth: { users: [...named('bob'), { username: 'ada', password: `${SECRET} again` }] },
    })
    expect(changed.body.basic_auth).toEqual({ users: named('bob', 'ada'), except_paths: [] })
    const second = hashes('services', 'shut')
    expect(second.bob).toBe(first.bob)
    expect(second.ada).not.toBe(first.ada)
    expect(await newestChanges('service.updated')).toContain('basic_auth.users.ada.password: set')

    await patch('shut', { basic_auth: { users: named('ada') } })
    expect(await patch('shut', { basic_auth: { users: named('ada', 'bob') } })).toMatchObject(
      refusal(400, 'invalid_request'),
    )
    expect(hashes('services', 'shut')).toEqual({ ada: second.ada })
  })

  it('change nothing when they are given again', async () => {
    const basic_auth = { users: [{ username: 'ada', password: `${SECRET} same` }] }
    const made = await server.api('POST', '/services', { name: 'same', deploy: false, basic_auth })
    expect((await patch('same', { basic_auth })).body.updated_at).toBe(made.body.updated_at)
  })

  it('are written by no export, and a file that leaves them to be set by hand changes none', async () => {
    const basic_auth = { users: [{ username: 'ada', password: `${SECRET} of file` }] }
    const apply = async (yaml: string) => (await server.api('POST', '/blueprints/apply', { yaml })).body
    const file = JSON.stringify({
      environment: 'filed',
      services: [{ name: 'filed', deploy: false, image: 'busybox:1', basic_auth }],
    })
    await apply(file)
    expect((await apply(file)).actions.at(-1)).toMatchObject({ action: 'unchanged' })
    const exported = (await server.api('GET', '/blueprints/export?environment=filed&secrets=include'))
      .body as string
    expect(exported).toMatch(/- username: ada\n +sync: false/)
    expect((await apply(exported)).actions.at(-1)).toMatchObject({ action: 'unchanged' })

    const other = await apply(exported.replace('environment: filed', 'environment: other'))
    expect(other.warnings).toEqual([
      expect.stringMatching(/^line \d+: ada of service filed has no password yet/),
    ])
    const body = (await server.api('GET', '/services/filed?environment=other')).body
    expect(body.basic_auth.users).toEqual(named('ada'))

    const next = await apply(file.replace(SECRET, `${SECRET} next`))
    expect(next.actions.at(-1)).toMatchObject({ changes: ['basic_auth.ada: password changed'] })
    expect(next.deploys).toEqual([])
  })
})

describe('what an environment has for its services', () => {
  it('is set field by field, shown without passwords, and goes with null', async () => {
    const made = (await server.api('POST', '/environments', { name: 'stage' })).body
    expect(made.edge_defaults).toBeNull()
    const set = (edge_defaults: unknown) => server.api('PATCH', '/environments/stage', { edge_defaults })
    const users = [{ username: 'ada', password: `${SECRET} of stage` }]
    expect((await set({ basic_auth: { users } })).body.edge_defaults).toEqual({
      basic_auth: { users: named('ada'), except_paths: [] },
      ip_allow_list: null,
    })
    const { ada } = hashes('environments', 'stage')
    const both = await set({ ip_allow_list: [{ source: '::1' }], basic_auth: { users: named('ada') } })
    expect(both.body).toMatchObject({ id: made.id, name: 'stage' })
    expect(hashes('environments', 'stage')).toEqual({ ada })
    expect((await set({ ip_allow_list: [] })).body.edge_defaults).toMatchObject({
      basic_auth: { users: named('ada') },
      ip_allow_list: [],
    })
    expect(await newestChanges('environment.updated')).not.toEqual([])
    const unknown = await set({ basic_auth: { users: named('eve') } })
    expect(unknown.body.error.message).toMatch(/^edge_defaults\.basic_auth\.users\.0\.password: /)
    expect((await set(null)).body.edge_defaults).toBeNull()
    expect(await server.api('PATCH', '/environments/stage', { name: 'other' })).toMatchObject(
      refusal(400, 'invalid_request'),
    )
  })
})

it('no password is in an answer, an event, the log or a file of the server', async () => {
  for (const path of ['/services', '/environments', '/audit-events?limit=1000'])
    expect(JSON.stringify((await server.api('GET', path)).body)).not.toContain(SECRET)
  const wrong = await patch('shut', { basic_auth: { users: [{ username: 'a:b', password: `${SECRET}\n` }] } })
  expect(JSON.stringify(wrong.body)).not.toContain(SECRET)
  const files = readdirSync(server.dataDirectory, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  const holding = files.filter((entry) => readFileSync(join(entry.parentPath, entry.name)).includes(SECRET))
  expect(holding.map(({ name }) => name)).toEqual([])
})
