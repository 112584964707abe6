import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readEvents, type StreamEvent } from '../support/sse.ts'
import { waitFor } from '../support/wait.ts'
import { AccessWorld, nothing, pathOf, without, type Holdings } from './access-world.ts'
import type { NamedOperation } from './document.ts'

let world: AccessWorld
const LEAST = 'x-least-access'

beforeAll(async () => {
  world = await AccessWorld.create()
})
afterAll(() => world?.server.stop())

function leastOf({ operation }: NamedOperation): string {
  return (operation as unknown as Record<string, string>)[LEAST]!
}

/** A body that fits the operation's document, if it takes one. */
function bodyFor({ method, operation }: NamedOperation): unknown {
  if (method === 'get') return undefined
  return operation.requestBody?.content['application/json']?.example ?? {}
}

function codeOf(text: string): string | undefined {
  return (JSON.parse(text) as { error?: { code: string } }).error?.code
}

/** What differs from what is expected, by operation, asked all at once. */
async function faultsOf(
  operations: readonly NamedOperation[],
  check: (operation: NamedOperation) => Promise<string | undefined>,
): Promise<string[]> {
  expect(operations.length).toBeGreaterThan(0)
  const found = await Promise.all(
    operations.map(async (operation) => {
      const fault = await check(operation)
      return fault && `${operation.name}: ${fault}`
    }),
  )
  return found.filter((fault) => fault !== undefined)
}

describe('the mode of a token', () => {
  test('is what each operation says that it takes: reading reads, and deploying deploys what there is', () => {
    const operations = Map.groupBy(world.operations, leastOf)
    expect([...operations.keys()].toSorted()).toEqual(['deploy', 'full', 'read'])
    expect(
      operations
        .get('deploy')!
        .map(({ name }) => name.replace('/api/v1', ''))
        .toSorted(),
    ).toEqual([
      'POST /deploys/{deploy_id}/cancel',
      'POST /jobs/{job_id}/cancel',
      'POST /services/{id}/deploys',
      'POST /services/{id}/deploys/upload',
      'POST /services/{id}/jobs',
      'POST /services/{id}/restart',
      'POST /services/{id}/rollback',
    ])
    const odd = world.operations.filter(
      (operation) => (operation.method === 'get') !== (leastOf(operation) === 'read'),
    )
    expect(odd.filter((operation) => leastOf(operation) !== 'deploy').every(isChange)).toBe(true)
  })

  /** A tunnel is a GET, and changes what is at its end. Who did what is for those who may do everything. */
  const isChange = ({ method, path }: NamedOperation) =>
    method !== 'get' || /\/(?:tunnel|audit-events)$/.test(path)

  test.each(['read', 'deploy'] as const)(
    '%s is refused whatever takes more, with the reason',
    async (mode) => {
      const token = await world.token({ mode, secrets: true })
      const allowed = mode === 'read' ? ['read'] : ['read', 'deploy']
      const faults = await faultsOf(
        world.operations.filter((operation) => !allowed.includes(leastOf(operation))),
        async (operation) => {
          const path = pathOf(operation, world.theirs)
          const { status, text } = await world.ask(
            token,
            operation.method.toUpperCase(),
            path,
            bodyFor(operation),
          )
          const isRefused = status === 403 && codeOf(text) === 'forbidden'
          return isRefused && text.includes(`this token may read`) ? undefined : `${status} ${text}`
        },
      )
      expect(faults).toEqual([])
    },
  )

  test('read may read everything that is there', async () => {
    const token = await world.token({ mode: 'read', secrets: true })
    const faults = await faultsOf(
      world.operations.filter((operation) => leastOf(operation) === 'read'),
      async (operation) => {
        const { status, text } = await world.ask(token, 'GET', pathOf(operation, world.theirs))
        return status === 403 ? text : undefined
      },
    )
    expect(faults).toEqual([])
  })

  test('deploy deploys what is configured, and runs nothing of its own', async () => {
    const token = await world.token({ mode: 'deploy' })
    const path = `/services/${world.beside}`
    expect(await world.ask(token, 'POST', `${path}/deploys`, {})).toMatchObject({ status: 202 })
    expect(await world.ask(token, 'POST', `${path}/jobs`, {})).toMatchObject({ status: 400 })
    const run = await world.ask(token, 'POST', `${path}/jobs`, { command: 'env' })
    expect([run.status, codeOf(run.text)]).toEqual([403, 'forbidden'])
    expect(run.text).toContain('command: this needs a token that may change everything')
  })

  test('deploy leaves a mark on its deploys, by which their commit must be on the branch', async () => {
    const source = { name: 'goat-source', repo_url: 'https://git.example.invalid/a/b.git', deploy: false }
    const { id } = (await world.server.api('POST', '/services', source)).body
    const confined = []
    for (const mode of ['deploy', 'full'] as const) {
      const token = await world.token({ mode })
      const { text } = await world.ask(token, 'POST', `/services/${id}/deploys`, { commit: '9fceb02' })
      const deploy = (JSON.parse(text) as { id: string }).id
      confined.push(...world.sql('SELECT is_confined FROM deploys WHERE id = ?', deploy))
    }
    expect(confined).toEqual([{ is_confined: 1 }, { is_confined: 0 }])
  })
})

describe('a token without secrets', () => {
  test('sees none in any answer to a read, whatever its mode', async () => {
    const [open, ...closed] = await Promise.all([
      world.token(),
      world.token({ mode: 'read' }),
      world.token({ mode: 'full' }),
    ])
    let shown = 0
    const faultAt = async (path: string): Promise<string | undefined> => {
      const whole = await world.ask(open, 'GET', path)
      if (world.secrets.some((secret) => whole.text.includes(secret))) shown++
      const answers = await Promise.all(closed.map((token) => world.ask(token, 'GET', path)))
      for (const { status, text } of answers) {
        const leaked = world.secrets.filter((secret) => text.includes(secret))
        if (leaked.length > 0) return `shows ${leaked.join(', ')}`
        if ((status === 403) !== path.endsWith('/download')) return `${status} ${text.slice(0, 200)}`
      }
      return undefined
    }
    const faults = await faultsOf(
      world.operations.filter((operation) => leastOf(operation) === 'read'),
      async (operation) => {
        const places = operation.path.includes('{') ? [world.theirs, world.ours] : [world.ours]
        const found = await Promise.all(places.map((held) => faultAt(pathOf(operation, held))))
        return found.find((fault) => fault !== undefined)
      },
    )
    expect(faults).toEqual([])
    expect(shown).toBeGreaterThan(10)
  })

  test('sees none in the answers to changes either', async () => {
    const token = await world.token({ mode: 'full' })
    const path = `/services/${world.beside}`
    const answers = await Promise.all([
      world.ask(token, 'PATCH', `${path}/env`, { set: { OTHER: 's3cr3t-value of mine' } }),
      world.ask(token, 'POST', `${path}/deploy-hook/rotate`, {}),
      world.ask(token, 'PATCH', `/datastores/${world.ours.datastore}`, { backup_retention: 5 }),
      world.ask(token, 'GET', '/blueprints/export?environment=staging'),
    ])
    const { deploy_hook_key } = (await world.server.api('GET', path)).body
    for (const { text } of answers)
      for (const secret of [...world.secrets, deploy_hook_key]) expect(text).not.toContain(secret)
    expect(JSON.parse(answers[0].text)).toContainEqual({ key: 'OTHER', value: null })
    const refused = await world.ask(token, 'GET', '/blueprints/export?secrets=include')
    expect([refused.status, codeOf(refused.text)]).toEqual([403, 'forbidden'])
  })
})

/** What belongs to the server as a whole, or to all of its environments. */
const WIDE =
  /^\/(?:metrics$|api\/v1\/(?:server|audit-events|git|blueprints|notifications|nodes|log-drains|registry-credentials|redirects|detect$|search$|certificates\/uploaded))/
const WIDE_WRITES = /^\/api\/v1\/(?:domains|env-groups|environments$)/

function isWide({ method, path }: NamedOperation): boolean {
  return WIDE.test(path) || (method !== 'get' && WIDE_WRITES.test(path))
}

describe.each([
  ['an environment', () => ({ environments: ['staging'] })],
  ['a service', () => ({ services: [world.ours.service] })],
])('a token restricted to %s', (kind, restriction) => {
  let token: string
  beforeAll(async () => {
    token = await world.token({ mode: 'full', secrets: true, ...restriction() })
  })

  test('is refused what belongs to the whole server, and told what it may', async () => {
    const faults = await faultsOf(world.operations.filter(isWide), async (operation) => {
      const path = pathOf(operation, world.ours)
      const { status, text } = await world.ask(
        token,
        operation.method.toUpperCase(),
        path,
        bodyFor(operation),
      )
      const isRefused = status === 403 && codeOf(text) === 'forbidden'
      return isRefused &&
        /this token may change everything in the (?:environment staging|service goat-web)/.test(text)
        ? undefined
        : `${status} ${text}`
    })
    expect(faults).toEqual([])
  })

  test('cannot tell what it does not reach from what does not exist, by any path', async () => {
    const operations = world.operations.filter(
      (operation) =>
        operation.path.includes('{') && !isWide(operation) && !/\/domains\/\{id\}/.test(operation.path),
    )
    const beside = { ...world.ours, service: world.beside, name: 'goat-beside' }
    const foreign = kind === 'a service' ? [world.theirs, beside] : [world.theirs]
    const faults = await faultsOf(operations, async (operation) => {
      // Its own environment and group, and its own service, are reached.
      const unreached = foreign.filter(
        (held) => held === world.theirs || operation.path.includes('/services/'),
      )
      for (const held of unreached) {
        const [asked, missing] = await Promise.all(
          [held, nothing(held)].map(async (one: Holdings) => {
            const method = operation.method.toUpperCase()
            const answer = await world.ask(token, method, pathOf(operation, one), bodyFor(operation))
            return { status: answer.status, text: without(answer.text, one) }
          }),
        )
        if (JSON.stringify(asked) !== JSON.stringify(missing))
          return `${JSON.stringify(asked)} is not ${JSON.stringify(missing)}`
        if (![400, 403, 404].includes(asked!.status)) return `${asked!.status} ${asked!.text}`
      }
      return undefined
    })
    expect(faults).toEqual([])
  })

  test('cannot tell them apart by a query or a body either', async () => {
    const { theirs, ours } = world
    const own = `/services/${ours.service}`
    const requests = (one: Holdings): [string, string, unknown?][] => [
      ['GET', `/services?environment=${one.environment_id}`],
      ['GET', `/services/${one.name}?environment=${one.environment_id}`],
      ['GET', `/services/${ours.name}?environment=${one.environment_id}`],
      ['GET', `/datastores?environment=${one.environment_id}`],
      ['POST', '/services', { name: 'new', environment: one.environment_id }],
      ['POST', '/datastores', { name: 'new', kind: 'keyvalue', environment: one.environment_id }],
      ['PATCH', own, { env_groups: [one.group] }],
      ['POST', `${own}/env-groups`, { group: one.group }],
      ['POST', `${own}/env-groups`, { group: one.group_name }],
      ['DELETE', `${own}/env-groups/${one.group}`],
      ['POST', `${own}/rollback`, { deploy_id: one.deploy_id }],
      ['GET', `/deploys/${ours.deploy_id}/compare?with=${one.deploy_id}`],
      ['POST', `${own}/disk/backups/${ours.disk_backup_id}/restore`, { service: one.service }],
      ['POST', `${own}/disk/backups/${one.disk_backup_id}/restore`, {}],
      ['PATCH', `${own}/env`, { set: { REF: `\${{service.${one.name}.host}}` } }],
      ['PATCH', `${own}/env`, { set: { REF: `\${{datastore.${one.datastore_name}.password}}` } }],
    ]
    const missing = {
      ...nothing(theirs),
      name: 'none-web',
      datastore_name: 'none-db',
      group_name: 'none-group',
    }
    for (const [index, [method, path, body]] of requests(theirs).entries()) {
      const [, otherPath, otherBody] = requests(missing)[index]!
      const asked = await world.ask(token, method, path, body)
      const other = await world.ask(token, method, otherPath, otherBody)
      expect([method, path, asked.status, without(asked.text, theirs)]).toEqual([
        ...[method, path, other.status, without(other.text, missing)],
      ])
      expect(asked.status).toBeGreaterThanOrEqual(400)
    }
  })

  test('finds nothing else in any list, stream or record', async () => {
    const operations = world.operations.filter(
      (operation) =>
        leastOf(operation) === 'read' && !isWide(operation) && !operation.path.startsWith('/api/v1/domains'),
    )
    let shown = 0
    const faults = await faultsOf(operations, async (operation) => {
      const path = `${pathOf(operation, world.ours)}?environment=staging`
      const [plain, placed] = await Promise.all([
        world.ask(token, 'GET', pathOf(operation, world.ours)),
        world.ask(token, 'GET', path),
      ])
      if (placed.text.includes('goat')) shown++
      const hidden = kind === 'a service' ? /lion|goat-beside|goat-db/ : /lion/
      // A service names its own groups, and the error of a hidden datastore what was asked for.
      const leaked = [plain, placed].find(({ text }) =>
        hidden.test(text.replaceAll(/there is no \w+ \S+/g, '')),
      )
      return leaked && leaked.text.slice(0, 300)
    })
    expect(faults).toEqual([])
    expect(shown).toBeGreaterThan(3)
  })
})

describe('a token restricted to a service', () => {
  test('may refer only to what it reaches, and keeps references that were there', async () => {
    const { ours } = world
    const token = await world.token({ mode: 'full', secrets: true, services: [ours.service] })
    const env = `/services/${ours.service}/env`
    const refer = (name: string) =>
      world.ask(token, 'PATCH', env, { set: { REF: `\${{datastore.${name}.password}}` } })
    const [hidden, missing] = [await refer('goat-db'), await refer('none-db')]
    expect([hidden.status, hidden.text.replaceAll('goat-db', 'none-db')]).toEqual([400, missing.text])
    const beside = await world.ask(token, 'PATCH', env, {
      set: { REF: '${{service.goat-beside.env.BESIDE}}' },
    })
    const nobody = await world.ask(token, 'PATCH', env, {
      set: { REF: '${{service.goat-nobody.env.BESIDE}}' },
    })
    expect(beside.text.replaceAll('beside', 'nobody')).toBe(nobody.text)
    expect(beside.status).toBe(400)
    await world.server.api('PATCH', env, { set: { DATABASE_URL: '${{datastore.goat-db.url}}' } })
    expect(await world.ask(token, 'PATCH', env, { set: { LEVEL: 'info' } })).toMatchObject({ status: 200 })
    await world.server.api('PATCH', env, { unset: ['DATABASE_URL', 'LEVEL'] })
  })

  test('is not told who has a name or a host', async () => {
    const token = await world.token({ mode: 'full', services: [world.ours.service] })
    const own = `/services/${world.ours.service}`
    const named = await world.ask(token, 'PATCH', own, { name: 'goat-beside' })
    expect([named.status, named.text]).toEqual([409, expect.not.stringContaining(world.beside)])
    const host = await world.ask(token, 'POST', `${own}/domains`, { domain: 'lion.example.org' })
    expect([host.status, host.text]).toEqual([409, expect.stringContaining('another service')])
  })

  test('creates nothing', async () => {
    const token = await world.token({ mode: 'full', services: [world.ours.service] })
    for (const path of ['/services', '/datastores']) {
      const body = {
        name: 'new',
        environment: 'staging',
        ...(path === '/datastores' ? { kind: 'keyvalue' } : {}),
      }
      expect(await world.ask(token, 'POST', path, body)).toMatchObject({ status: 403 })
    }
  })
})

describe('the change feed of a restricted token', () => {
  test('reports its own, also what is deleted, and nothing else', async () => {
    const token = await world.token({ mode: 'read', environments: ['staging'] })
    const events: StreamEvent[] = []
    const left = new AbortController()
    const response = await fetch(`${world.server.url}/api/v1/events`, {
      headers: { authorization: `Bearer ${token}` },
      signal: left.signal,
    })
    const reading = (async () => {
      for await (const event of readEvents(response)) events.push(event)
    })().catch(() => {})
    await waitFor(() => events.length > 0, 'ready')
    const make = async (name: string, environment: string) =>
      (await world.server.api('POST', '/services', { name, environment })).body.id as string
    const hidden = await make('lion-new', 'production')
    await world.server.api('PATCH', `/datastores/${world.theirs.datastore}`, { backup_retention: 6 })
    await world.server.api('POST', '/env-groups', { name: 'lion-extra' })
    await world.server.api('DELETE', `/services/${hidden}`)
    const own = await make('goat-new', 'staging')
    await world.server.api('DELETE', `/services/${own}`)
    const told = () => events.slice(1).map(({ data }) => JSON.parse(data) as { id: string; action: string })
    await waitFor(() => told().some(({ id, action }) => id === own && action !== 'created'), 'the deletion')
    left.abort()
    await reading
    expect(new Set(told().map(({ id }) => id))).toEqual(new Set([own]))
  })
})
