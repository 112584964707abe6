import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readEvents } from '../support/sse.ts'
import { startServer, type ApiAnswer, type TestServer } from '../support/server.ts'
import { refusal } from './account-client.ts'

let server: TestServer

beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

let made = 0
/** The group of one test, with FIRST, and a service that is linked to nothing. */
let name: string
let group: ApiAnswer['body']
let service: string

const FIRST = [
  { key: 'B', value: '2' },
  { key: 'A', value: '1' },
]

beforeEach(async () => {
  name = `group-${++made}`
  service = `service-${made}`
  group = (await server.api('POST', '/env-groups', { name, vars: FIRST })).body
  await server.api('POST', '/services', { name: service })
})

async function groupNow(): Promise<ApiAnswer['body']> {
  return (await server.api('GET', `/env-groups/${name}`)).body
}

async function linksOf(ref = service): Promise<string[]> {
  return (await server.api('GET', `/services/${ref}`)).body.env_groups
}

function link(ref: string, to = service): Promise<ApiAnswer> {
  return server.api('POST', `/services/${to}/env-groups`, { group: ref })
}

/** Everything that a refused request must leave as it was. */
async function everything(): Promise<unknown> {
  const paths = ['/env-groups', '/services', `/services/${service}/env`]
  return Promise.all(paths.map(async (path) => (await server.api('GET', path)).body))
}

/** A number of variables whose keys begin with a prefix. */
function many(count: number, prefix: string, value = ''): { key: string; value: string }[] {
  return Array.from({ length: count }, (_, index) => ({ key: `${prefix}${index}`, value }))
}

describe('an env group', () => {
  it('is created from a name alone, with every documented field', async () => {
    const answer = await server.api('POST', '/env-groups', { name: `${name}-bare` })
    expect(answer).toMatchObject({ status: 201 })
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^evg-[0-9a-f]{20}$/) as string,
      name: `${name}-bare`,
      vars: [],
      services: [],
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
      updated_at: answer.body.created_at,
    })
  })

  it('is found by its id and by its name, with its variables in the order given', async () => {
    for (const ref of [group.id, name]) {
      expect(await server.api('GET', `/env-groups/${ref}`)).toMatchObject({
        status: 200,
        body: { id: group.id, name, vars: FIRST },
      })
    }
  })

  it('is not found by another name, another case or another kind of id', async () => {
    const refs = ['nobody', name.toUpperCase(), group.id.replace('evg-', 'srv-'), 'evg-00000000000000000000']
    const calls: [string, string, unknown?][] = [
      ['GET', ''],
      ['DELETE', ''],
      ['PUT', '/env', { vars: [] }],
      ['PATCH', '/env', {}],
    ]
    for (const ref of refs) {
      for (const [method, path, body] of calls) {
        const answer = await server.api(method, `/env-groups/${ref}${path}`, body)
        expect(answer).toMatchObject(refusal(404, 'not_found'))
      }
    }
  })

  it('is listed with all others by name, with its variables and services', async () => {
    await link(name)
    const { body } = await server.api('GET', '/env-groups')
    const names = body.map((entry: { name: string }) => entry.name)
    expect(names).toEqual([...names].sort())
    expect(body.find((entry: { name: string }) => entry.name === name)).toEqual({
      ...group,
      services: [service],
    })
  })

  it('has its name to itself, and the refusal names the owner', async () => {
    const answer = await server.api('POST', '/env-groups', { name })
    expect(answer).toMatchObject(refusal(409, 'conflict'))
    expect(answer.body.error.message).toContain(group.id)
    const race = await Promise.all(
      Array.from({ length: 8 }, () => server.api('POST', '/env-groups', { name: `${name}-race` })),
    )
    expect(race.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(7).fill(409)])
  })

  it('may have the name of a service', async () => {
    expect((await server.api('POST', '/env-groups', { name: service })).status).toBe(201)
  })

  it('gets exactly the variables of a PUT', async () => {
    const vars = [
      { key: 'Z', value: 'a\n$HOME "é"' },
      { key: 'C', value: '' },
    ]
    const answer = await server.api('PUT', `/env-groups/${name}/env`, { vars })
    expect(answer).toMatchObject({ status: 200, body: { id: group.id, vars } })
    expect(answer.body.updated_at >= group.updated_at).toBe(true)
    expect((await groupNow()).vars).toEqual(vars)
  })

  it.each([
    [{ set: [{ key: 'A', value: 'new' }], unset: ['B'] }],
    [{ set: { A: 'new' }, unset: ['B', 'C'] }],
  ])('has some variables set and others removed by a PATCH: %j', async (patch) => {
    const { status, body } = await server.api('PATCH', `/env-groups/${group.id}/env`, patch)
    expect({ status, vars: body.vars }).toEqual({ status: 200, vars: [{ key: 'A', value: 'new' }] })
  })

  it('keeps its values encrypted on disk and out of the log', async () => {
    const secret = 'gr0up-s3cret-value'
    await server.api('PUT', `/env-groups/${name}/env`, { vars: [{ key: 'S', value: secret }] })
    const files = readdirSync(server.dataDirectory).filter((file) => file.startsWith('deployer.db'))
    const found = files.filter((file) => readFileSync(join(server.dataDirectory, file)).includes(secret))
    expect(found).toEqual([])
    expect(server.logs).not.toContain(secret)
  })
})

describe('a link', () => {
  it('is shown by the service and by the group, and created once however often it is requested', async () => {
    const first = await link(name)
    expect(first).toMatchObject({ status: 200, body: { name: service, env_groups: [name] } })
    expect(await link(group.id)).toEqual({ ...first, headers: expect.anything() as Headers })
    expect((await groupNow()).services).toEqual([service])
  })

  it('comes after the earlier ones, in every view', async () => {
    const others = [`a-${name}`, `z-${name}`]
    for (const other of others) await server.api('POST', '/env-groups', { name: other })
    for (const ref of [others[1]!, name, others[0]!]) await link(ref)
    const order = [others[1], name, others[0]]
    expect(await linksOf()).toEqual(order)
    const { body } = await server.api('GET', '/services')
    expect(body.find((entry: { name: string }) => entry.name === service).env_groups).toEqual(order)
  })

  it('is removed by id or name of the group, and the others keep their order', async () => {
    const other = (await server.api('POST', '/env-groups', { name: `${name}-other` })).body
    await link(name)
    await link(other.id)
    const answer = await server.api('DELETE', `/services/${service}/env-groups/${group.id}`)
    expect(answer).toMatchObject({ status: 200, body: { env_groups: [other.name] } })
    await server.api('DELETE', `/services/${service}/env-groups/${other.name}`)
    expect(await linksOf()).toEqual([])
  })

  it('that does not exist cannot be removed', async () => {
    for (const ref of [name, group.id, 'nobody']) {
      const answer = await server.api('DELETE', `/services/${service}/env-groups/${ref}`)
      expect(answer).toMatchObject(refusal(404, 'not_found'))
    }
    expect(await server.api('DELETE', `/services/nobody/env-groups/${name}`)).toMatchObject(
      refusal(404, 'not_found'),
    )
  })

  it('can be given with a new service, by name or id, in order', async () => {
    const other = (await server.api('POST', '/env-groups', { name: `${name}-other` })).body
    const answer = await server.api('POST', '/services', {
      name: `${service}-new`,
      env_groups: [other.id, name, other.name],
    })
    expect(answer).toMatchObject({ status: 201, body: { env_groups: [other.name, name] } })
  })

  it('is replaced by a PATCH of the service that names links, and kept by one that does not', async () => {
    const other = (await server.api('POST', '/env-groups', { name: `${name}-other` })).body
    await link(name)
    const patch = (body: object) => server.api('PATCH', `/services/${service}`, body)
    expect((await patch({ branch: 'x' })).body.env_groups).toEqual([name])
    expect((await patch({ env_groups: [other.id, name] })).body.env_groups).toEqual([other.name, name])
    expect((await patch({ env_groups: [name, other.name] })).body.env_groups).toEqual([name, other.name])
    expect((await patch({ env_groups: [] })).body.env_groups).toEqual([])
  })

  it('to an env group that does not exist is not found, and nothing is saved', async () => {
    const before = await everything()
    for (const ref of ['nobody', 'evg-00000000000000000000', service]) {
      const answers = await Promise.all([
        link(ref),
        server.api('POST', '/services', { name: 'never', env_groups: [name, ref] }),
        server.api('PATCH', `/services/${service}`, { branch: 'x', env_groups: [name, ref] }),
      ])
      for (const answer of answers) {
        expect(answer).toMatchObject(refusal(404, 'not_found'))
        expect(answer.body.error.message).toContain(ref)
      }
    }
    expect(await everything()).toEqual(before)
  })

  it('gives the service the port that the group names, until it is removed', async () => {
    await server.api('PUT', `/env-groups/${name}/env`, { vars: [{ key: 'PORT', value: '7000' }] })
    expect((await link(name)).body.internal_port).toBe(7_000)
    await server.api('PATCH', `/env-groups/${name}/env`, { set: { PORT: '7001' } })
    expect((await server.api('GET', `/services/${service}`)).body.internal_port).toBe(7_001)
    await server.api('PATCH', `/services/${service}/env`, { set: { PORT: '7002' } })
    expect((await server.api('GET', `/services/${service}`)).body.internal_port).toBe(7_002)
    await server.api('PATCH', `/services/${service}/env`, { unset: ['PORT'] })
    const unlinked = await server.api('DELETE', `/services/${service}/env-groups/${name}`)
    expect(unlinked.body.internal_port).toBe(10_000)
  })

  it.each([
    ['no group', {}, /^group: is required/],
    ['an empty text', { group: '' }, /^group: /],
    ['null', { group: null }, /^group: /],
    ['a number', { group: 1 }, /^group: /],
    ['a list', { group: ['x'] }, /^group: /],
    ['an unknown field', { group: 'x', position: 0 }, /^position: unknown field/],
    ['two faults', { group: 1, name: 'x' }, /group: .*name: unknown field|name: .*group: /],
  ])('is refused if the body is bad: %s', async (_, body, message) => {
    for (const ref of [service, 'nobody']) {
      const answer = await server.api('POST', `/services/${ref}/env-groups`, body)
      expect(answer).toMatchObject(refusal(400, 'invalid_request'))
      expect(answer.body.error.message).toMatch(message)
    }
    expect(await linksOf()).toEqual([])
  })

  it('of a service that is being deleted is neither created nor removed', async () => {
    await link(name)
    await server.api('DELETE', `/services/${service}`)
    expect(await link(name)).toMatchObject(refusal(409, 'conflict'))
    expect(await server.api('DELETE', `/services/${service}/env-groups/${name}`)).toMatchObject(
      refusal(409, 'conflict'),
    )
    expect((await server.api('PUT', `/env-groups/${name}/env`, { vars: [] })).status).toBe(200)
  })
})

describe('the deletion of an env group', () => {
  it('is done at once when no service is linked', async () => {
    expect(await server.api('DELETE', `/env-groups/${name}`)).toMatchObject({ status: 204, body: null })
    expect((await server.api('GET', `/env-groups/${group.id}`)).status).toBe(404)
    expect((await server.api('POST', '/env-groups', { name })).status).toBe(201)
  })

  it('is refused while services are linked, names them, and works with force', async () => {
    await link(name)
    for (const query of ['', '?force=false', '?restart=true']) {
      const answer = await server.api('DELETE', `/env-groups/${name}${query}`)
      expect(answer).toMatchObject(refusal(409, 'conflict'))
      expect(answer.body.error.message).toMatch(new RegExp(`${service}.*force=true`))
    }
    expect((await groupNow()).vars).toEqual(FIRST)
    expect((await server.api('DELETE', `/env-groups/${name}?force&restart=true`)).status).toBe(204)
    expect(await linksOf()).toEqual([])
    expect((await server.api('GET', `/services/${service}/deploys`)).body).toEqual([])
  })

  it.each(['force=maybe', 'restart=2', 'environment=production', 'Force=1'])(
    'is refused with another query: %s',
    async (query) => {
      expect(await server.api('DELETE', `/env-groups/${name}?${query}`)).toMatchObject(
        refusal(400, 'invalid_request'),
      )
      expect((await groupNow()).id).toBe(group.id)
    },
  )
})

describe('a bad env group', () => {
  const NAMES = ['', 'A', 'a_b', 'a.b', '-a', 'a-', '1a', 'é', 'a\n', 'a'.repeat(64), null, 5, [], {}]
  const IDS = ['evg-0123456789abcdef0123', 'srv-0123456789abcdef0123', 'xyz-0123456789abcdef0123']

  it.each([...NAMES, ...IDS])('is refused for its name, alone and next to bad variables: %j', async (bad) => {
    const before = await everything()
    const alone = await server.api('POST', '/env-groups', { name: bad })
    const both = await server.api('POST', '/env-groups', { name: bad, vars: {} })
    for (const answer of [alone, both]) {
      expect(answer).toMatchObject(refusal(400, 'invalid_request'))
      expect(answer.body.error.message).toMatch(/^name: /)
    }
    expect(both.body.error.message).toMatch(/vars: /)
    expect(await everything()).toEqual(before)
  })

  it.each([
    ['without a name', {}, /^name: is required/],
    ['with an id', { name: 'x', id: 'evg-0123456789abcdef0123' }, /^id: unknown field/],
    ['with services', { name: 'x', services: [] }, /^services: unknown field/],
    ['with variables as `env`', { name: 'x', env: [] }, /^env: unknown field/],
    ['as a list', [], /^body: /],
  ])('is refused %s', async (_, body, message) => {
    const answer = await server.api('POST', '/env-groups', body)
    expect(answer).toMatchObject(refusal(400, 'invalid_request'))
    expect(answer.body.error.message).toMatch(message)
  })

  it.each<[string, unknown, RegExp]>([
    ['no list', { A: '1' }, /^vars: /],
    ['null', null, /^vars: /],
    ['a number as the value', [{ key: 'A', value: 1 }], /^vars\.0\.value: /],
    ['no value', [{ key: 'A' }], /^vars\.0\.value: is required/],
    ['an unknown field', [{ key: 'A', value: '', sync: false }], /^vars\.0\.sync: unknown field/],
    ['a bad key', [FIRST[0], { key: 'A B', value: '' }], /^vars\.1: key/],
    ["the server's own prefix", [{ key: 'DEPLOYER_X', value: '' }], /^vars\.0: key .*DEPLOYER_/],
    ['257 characters', [{ key: 'A'.repeat(257), value: '' }], /^vars\.0: key .*256/],
    ['NUL', [{ key: 'A', value: '\0' }], /^vars\.0: value .*NUL/],
    ['half of a surrogate pair', [{ key: 'A', value: '\ud800' }], /^vars\.0\.value: .*surrogate/],
    ['a value over 64 KiB', [{ key: 'A', value: 'é'.repeat(32 * 1024 + 1) }], /^vars\.0: value .*64 KiB/],
    ['a key twice', [FIRST[0], FIRST[0]], /^vars\.1: .*twice/],
    ['1,001 variables', many(1_001, 'K'), /^vars: .*1000/],
    ['over 512 KiB', many(9, 'K', 'x'.repeat(60 * 1024)), /^vars: .*512 KiB/],
    ['${{ that begins nothing', [{ key: 'A', value: 'x ${{ y }}' }], /^vars\.0: value .*\$\$\{\{/],
    ['an unknown property', [{ key: 'A', value: '${{service.api.ports}}' }], /^vars\.0: value .*\$\$\{\{/],
    ['${{ without an end', [{ key: 'A', value: '${{service.api' }], /^vars\.0: value .*\$\$\{\{/],
  ])('is refused for its variables, by a create and a PUT: %s', async (_, vars, message) => {
    const before = await everything()
    for (const [method, path, body] of [
      ['POST', '/env-groups', { name: 'never', vars }],
      ['PUT', `/env-groups/${name}/env`, { vars }],
    ] as const) {
      const answer = await server.api(method, path, body)
      expect(answer).toMatchObject(refusal(400, 'invalid_request'))
      expect(answer.body.error.message).toMatch(message)
    }
    expect(await everything()).toEqual(before)
  })

  it.each([
    ['a key in both', { set: { A: 'x' }, unset: ['A'] }, /^set: A.*unset/],
    ['a text', { set: 'A=1' }, /^set: /],
    ['unset as an object', { unset: { A: true } }, /^unset: /],
    ['an unknown field', { vars: [] }, /^vars: unknown field/],
    ['one bad of two', { set: { C: '1', DEPLOYER_X: '1' } }, /^set\.1: .*DEPLOYER_/],
    ['a bad reference', { set: { C: '${{x}}' }, unset: ['A'] }, /^set\.0: value .*\$\$\{\{/],
  ])('is refused by a PATCH: %s', async (_, patch, message) => {
    const answer = await server.api('PATCH', `/env-groups/${name}/env`, patch)
    expect(answer).toMatchObject(refusal(400, 'invalid_request'))
    expect(answer.body.error.message).toMatch(message)
    expect(await groupNow()).toEqual(group)
  })

  it('is refused before its absence is reported', async () => {
    expect(await server.api('PUT', '/env-groups/nobody/env', {})).toMatchObject(
      refusal(400, 'invalid_request'),
    )
    expect(await server.api('PUT', `/env-groups/${name}/env?restart=maybe`, { vars: [] })).toMatchObject(
      refusal(400, 'invalid_request'),
    )
  })

  it('may refer to what does not exist yet while no service is linked', async () => {
    const vars = [{ key: 'A', value: '${{service.nobody.host}} ${{ datastore.db }}' }]
    expect((await server.api('PUT', `/env-groups/${name}/env`, { vars })).body.vars).toEqual(vars)
  })
})

describe('the limits of the whole environment', () => {
  /** Every way to combine a service and a group that would be too much. */
  async function refusedEveryWhere(
    own: { key: string; value: string }[],
    shared: { key: string; value: string }[],
    message: RegExp,
  ): Promise<void> {
    const full = `full-${made}`
    const vars = (body: object) => ({ vars: body })
    await server.api('POST', '/env-groups', { name: full, vars: shared })
    await server.api('PUT', `/services/${service}/env`, vars(own))
    await server.api('POST', '/services', { name: `${service}-linked`, env_groups: [full] })
    await link(name)
    const before = await everything()
    const attempts: [string, string, string, unknown][] = [
      ['group', 'POST', `/services/${service}/env-groups`, { group: full }],
      ['vars', 'PUT', `/env-groups/${name}/env`, vars(shared)],
      ['set', 'PATCH', `/env-groups/${name}/env`, { set: shared }],
      ['env_groups', 'PATCH', `/services/${service}`, { env_groups: [full] }],
      ['env', 'PATCH', `/services/${service}-linked`, { env: own, branch: 'x' }],
      ['vars', 'PUT', `/services/${service}-linked/env`, vars(own)],
      ['set', 'PATCH', `/services/${service}-linked/env`, { set: own }],
      ['env', 'POST', '/services', { name: 'never', env: own, env_groups: [full] }],
    ]
    for (const [field, method, path, body] of attempts) {
      const answer = await server.api(method, path, body)
      expect([path, answer.status]).toEqual([path, 400])
      expect(answer.body.error.message).toMatch(message)
      expect(answer.body.error.message).toMatch(new RegExp(`^${field}: the whole environment of service `))
    }
    expect(await everything()).toEqual(before)
  }

  it('are 1,000 variables, counted by key', async () => {
    await refusedEveryWhere(many(500, 'OWN'), many(501, 'SHARED'), /1000 variables, not 100[13]/)
    const same = [...many(500, 'OWN'), ...many(500, 'SHARED')]
    expect((await server.api('PUT', `/services/${service}-linked/env`, { vars: same })).status).toBe(400)
    const fits = many(499, 'OWN')
    expect((await server.api('PUT', `/services/${service}-linked/env`, { vars: fits })).status).toBe(200)
    const over = [...fits, ...many(501, 'SHARED', 'own')]
    expect((await server.api('PUT', `/services/${service}-linked/env`, { vars: over })).status).toBe(200)
  })

  it('are 512 KiB together, not counting hidden ones', async () => {
    const value = 'x'.repeat(60 * 1024)
    await refusedEveryWhere(many(5, 'OWN', value), many(5, 'SHARED', value), /512 KiB/)
    const hiding = many(5, 'SHARED', 'x')
    const answer = await server.api('PUT', `/services/${service}-linked/env`, {
      vars: [...hiding, ...many(5, 'OWN', value)],
    })
    expect(answer.status).toBe(200)
  })
})

describe('the change feed', () => {
  it('reports an env group by its kind and id, and services whose groups have changed', async () => {
    const abort = new AbortController()
    const response = await fetch(`${server.url}/api/v1/events`, {
      headers: { authorization: `Bearer ${server.token}` },
      signal: abort.signal,
    })
    const events = readEvents(response)
    await events.next()
    const { body } = await server.api('POST', '/env-groups', { name: `${name}-told` })
    await server.api('PUT', `/env-groups/${body.id}/env`, { vars: [{ key: 'A B', value: '' }] })
    await server.api('PUT', `/env-groups/${body.id}/env?restart=true`, { vars: FIRST })
    await server.api('POST', '/env-groups', { name })
    const linked = await link(body.id)
    await link(body.id)
    await server.api('DELETE', `/env-groups/${body.id}?force=true`)
    const told = []
    while (told.length < 5) told.push(JSON.parse((await events.next()).value!.data) as unknown)
    abort.abort()
    const change = { kind: 'env_group', id: body.id, service_id: null }
    const ofService = {
      kind: 'service',
      id: linked.body.id,
      service_id: linked.body.id,
      action: 'updated',
    }
    expect(told).toEqual([
      { ...change, action: 'created' },
      { ...change, action: 'updated' },
      ofService,
      { ...change, action: 'deleted' },
      ofService,
    ])
  })
})
