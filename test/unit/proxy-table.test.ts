import { setTimeout as sleep } from 'node:timers/promises'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { asOlderMessages } from '../../proxy/table/message.ts'
import { SentTable } from '../../proxy/table/sent-table.ts'
import { TableImage } from '../../proxy/table/image.ts'
import type { RouteTable, TableMessage, Target } from '../../proxy/protocol.ts'
import type { Instance } from '../../proxy/routes/instance.ts'
import { Routes } from '../../proxy/routes/routes.ts'
import { TableIntake } from '../../proxy/worker/table-intake.ts'

const HOSTS = ['a.test', 'b.test', 'x.c.test', 'x.d.c.test', 'other.test', 'none.example']

const name = fc.integer({ min: 0, max: 7 })
const state = fc.constantFrom('serving', 'suspended', 'failed')
const upstream = fc.record({
  instance: name.map((number) => `instance-${number}`),
  host: fc.constant('127.0.0.1'),
  port: fc.integer({ min: 1, max: 3 }),
  draining: fc.boolean(),
})
const target = fc.record({
  id: name.map((number) => `srv-${number}`),
  state,
  upstreams: fc.uniqueArray(upstream, {
    maxLength: 3,
    selector: ({ instance, port }) => `${instance} ${port}`,
  }),
  compression: fc.boolean(),
  redirect: fc.constantFrom('https://one.test', 'https://two.test/x'),
  redirect_status: fc.constantFrom(301, 308),
})

/** The hosts that requests come for before a table is in use, and with it. */
const asked = fc.record({ before: fc.subarray(HOSTS), after: fc.subarray(HOSTS) })

/** Tables with few names, so that names come, change and go from one to the next. */
const table = fc
  .record({
    targets: fc.dictionary(
      name.map((number) => `target-${number}`),
      target,
    ),
    hosts: fc.array(fc.tuple(fc.constantFrom('a.test', 'b.test', '*.c.test', '*.d.c.test', '*.test'), name)),
    challenges: fc.dictionary(
      fc.constantFrom('token-1', 'token-2'),
      fc.constantFrom('token.one', 'token.two'),
    ),
    certificates: fc.dictionary(
      fc.constantFrom('a.test', '*.c.test'),
      fc.record({ certificate: fc.constantFrom('/one.crt', '/two.crt'), key: fc.constant('/key') }),
    ),
  })
  .map(({ targets, hosts, challenges, certificates }) => {
    const known = Object.keys(targets)
    const routed =
      known.length === 0 ? [] : hosts.map(([host, number]) => [host, known[number % known.length]!])
    return tableOf(targets, Object.fromEntries(routed) as Record<string, string>, {
      acme_challenges: challenges,
      certificates,
    })
  })

function tableOf(
  targets: Record<string, Target>,
  hosts: Record<string, string>,
  more: Partial<RouteTable> = {},
): RouteTable {
  return {
    version: 1,
    listeners: [],
    targets,
    hosts,
    zones: {},
    certificates: {},
    acme_challenges: {},
    tls_challenges: {},
    verification_key: '',
    hsts_seconds: 0,
    h2c: false,
    trusted_proxies: [],
    upstream_timeout_ms: 1_000,
    max_connections_per_ip: 100,
    ...more,
  }
}

/** So many that they are not sent in one slice. */
const MANY = 20_000

/** A target for each port, with its own host; none for 0. */
function manyTargets(ports: number[]): RouteTable {
  const [targets, hosts]: [Record<string, Target>, Record<string, string>] = [{}, {}]
  for (const [number, port] of ports.entries()) {
    if (port === 0) continue
    const upstreams = [{ instance: 'i', host: '127.0.0.1', port }]
    targets[`target-${number}`] = { id: `srv-${number}`, state: 'serving', upstreams }
    hosts[`host-${number}.test`] = `target-${number}`
  }
  return tableOf(targets, hosts)
}

/** What requests get from routes. */
function seen(routes: Routes) {
  const found = HOSTS.map((host) => {
    const route = routes.find(host)
    const instances = route?.instances.map(({ name, port, draining }) => ({ name, port, draining }))
    const { state, redirect, compression } = route ?? {}
    const files = routes.findCertificate(host)
    return { host, state, redirect, compression, id: route?.counts.id, instances, files }
  })
  return { found, tokens: ['token-1', 'token-2'].map((token) => routes.challenge(token)) }
}

/**
 * Takes a table, which is in use when this returns; `ask` is called when it has come and is not yet. Resolves when it is
 * completely processed in slices.
 */
async function take(intake: TableIntake, messages: Iterable<string>, ask = () => {}): Promise<void> {
  for (const message of messages) {
    const whole = intake.read(JSON.parse(message) as object)
    if (!whole) continue
    ask()
    await intake.swap(whole)
  }
}

test('changes from table to table route requests as each whole table would', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ table, asked, waits: fc.boolean() }), { minLength: 2, maxLength: 6 }),
      async (steps) => {
        const image = new SentTable()
        const routes = new Routes()
        const intake = new TableIntake(routes)
        const met = new Set<Instance>()
        const slices: Promise<void>[] = []
        const ask = (hosts: string[]) => {
          for (const host of hosts)
            for (const instance of routes.find(host)?.instances ?? []) met.add(instance)
        }
        for (const [number, { table, asked, waits }] of steps.entries()) {
          const taken = take(intake, image.become(table), () => ask(asked.before))
          ask(asked.after)
          if (waits) await taken
          else slices.push(taken)
          const isLast = number === steps.length - 1
          if (!isLast && asked.after.length < HOSTS.length) continue
          const fresh = new Routes()
          await take(new TableIntake(fresh), new SentTable().become(table))
          expect(seen(routes)).toEqual(seen(fresh))
          await Promise.all(slices)
          expect(seen(routes)).toEqual(seen(fresh))
          const kept = new Set(routes.instances())
          for (const instance of met) expect(kept.has(instance) || instance.draining).toBe(true)
          for (const { key } of routes.requested) expect(Object.keys(table.targets)).toContain(key)
        }
      },
    ),
    { numRuns: 300 },
  )
})

test('a reader of the changes has the same table as their sender', () => {
  fc.assert(
    fc.property(fc.array(table, { minLength: 1, maxLength: 6 }), (tables) => {
      const sent = new SentTable()
      const messages: string[] = []
      for (const next of tables) {
        messages.push(...sent.become(next))
        const read = TableImage.read(messages)
        expect(read.table).toEqual(next)
        expect(TableImage.read(read.messages()).table).toEqual(next)
      }
    }),
    { numRuns: 300 },
  )
})

test('a target that is requested before a large table has described it is as that table says', async () => {
  const routes = new Routes()
  const intake = new TableIntake(routes)
  const sent = new SentTable()
  const portOf = (number: number) => routes.find(`host-${number}.test`)?.instances[0]?.port
  const give = (ports: number[], whole = false) =>
    void take(intake, (whole ? new SentTable() : sent).become(manyTargets(ports)))
  const all = (port: number) => Array.from({ length: MANY }, () => port)
  give(all(1))
  give(all(2))
  expect(routes.changes.size).toBe(MANY)
  expect(portOf(1)).toBe(2)
  give(all(2).with(2, 3))
  expect([portOf(2), portOf(3)]).toEqual([3, 2])
  give(all(4))
  give(all(4).with(4, 0).with(5, 5))
  expect([portOf(4), portOf(5), portOf(6)]).toEqual([undefined, 5, 4])
  give(all(4))
  expect(portOf(4)).toBe(4)
  give(all(6), true)
  give(all(7), true)
  await expect.poll(() => routes.changes.size).toBe(0)
  expect([portOf(1), portOf(4), portOf(7), portOf(MANY - 1)]).toEqual([7, 7, 7, 7])
  give(all(8))
  give(all(8).with(MANY - 2, 9))
  await sleep(100)
  expect(portOf(MANY - 2)).toBe(9)
})

test('a target that a table adds and removes does not get in the way of the next', async () => {
  const routes = new Routes()
  const intake = new TableIntake(routes)
  const [settings] = [...new SentTable().become(tableOf({}, {}))].map(
    (text) => JSON.parse(text) as TableMessage,
  )
  const text = JSON.stringify({ id: 'srv-app', state: 'serving', upstreams: [] })
  const message = (base: boolean, targets: [string, string | null][]) =>
    JSON.stringify({ ...settings, base, entries: { targets } })
  await take(intake, [message(false, [['app', text]])])
  await take(intake, [
    message(true, [
      ['app', text],
      ['app', null],
    ]),
  ])
  await take(intake, [
    message(true, [
      ['app', null],
      ['app', text],
    ]),
  ])
  await take(intake, [message(true, [])])
  expect(routes.changes.size).toBe(0)
})

test('an instance that stays keeps its object, with the connections it holds', async () => {
  const upstreams = [{ instance: 'i', host: '127.0.0.1', port: 1 }]
  const image = new SentTable()
  const routes = new Routes()
  const intake = new TableIntake(routes)
  const targets = (state: Target['state']) => ({ app: { id: 'srv-app', state, upstreams } })
  await take(intake, image.become(tableOf(targets('starting'), { 'a.test': 'app' })))
  const [instance] = routes.find('a.test')!.instances
  await take(intake, image.become(tableOf(targets('serving'), { 'a.test': 'app' })))
  expect(routes.find('a.test')!.instances).toEqual([instance])
  expect(routes.find('a.test')!.instances[0]).toBe(instance)
  await take(intake, new SentTable().become(tableOf(targets('serving'), { 'b.test': 'app' })))
  expect(routes.find('b.test')!.instances[0]).toBe(instance)
})

test('changes to another table than the one in use are refused, and so are messages out of order', async () => {
  const routes = new Routes()
  const [first, second] = [new TableIntake(routes), new TableIntake(routes)]
  const image = new SentTable()
  const app = { app: { id: 'srv-app', state: 'serving' as const, upstreams: [] } }
  await take(first, image.become(tableOf(app, { 'a.test': 'app' })))
  await take(second, new SentTable().become(tableOf(app, { 'b.test': 'app' })))
  await expect(take(first, image.become(tableOf(app, {})))).rejects.toThrow('another connection')
  expect(() => second.read({ part: 1, base: false, entries: {} })).toThrow('out of order')
  expect(routes.find('b.test')).toBeDefined()
  await take(first, new SentTable().become(tableOf(app, { 'c.test': 'app' })))
  expect([routes.find('b.test'), routes.find('c.test')?.counts.id]).toEqual([undefined, 'srv-app'])
})

test('nothing is left of a table when another is refused at its beginning, or continues as another kind', async () => {
  const routes = new Routes()
  const [first, second] = [new TableIntake(routes), new TableIntake(routes)]
  const app = { app: { id: 'srv-app', state: 'serving' as const, upstreams: [] } }
  const settings = { ...tableOf({}, {}), targets: undefined }
  await take(first, new SentTable().become(tableOf(app, { 'a.test': 'app' })))
  const abandoned = { targets: Object.entries(app), hosts: [['gone.test', 'app']] }
  second.read({ part: 0, base: false, entries: abandoned })
  expect(() => second.read({ part: 0, base: true, entries: {} })).toThrow('another connection')
  expect(() => second.read({ part: 1, base: true, entries: {}, settings })).toThrow('after an invalid part')
  second.read({ part: 0, base: false, entries: abandoned })
  expect(() => second.read({ part: 1, base: true, entries: {}, settings })).toThrow('out of order')
  expect(routes.find('gone.test')).toBeUndefined()
  expect(routes.find('a.test')).toBeDefined()
})

test('a table is the same as older programs store and accept it', async () => {
  await fc.assert(
    fc.asyncProperty(table, async (table) => {
      const messages = [...new SentTable().become(table)]
      const older = [...asOlderMessages(messages)]
      for (const [key, target] of Object.entries(table.targets))
        expect(older.join()).toContain(`[${JSON.stringify(key)},${JSON.stringify(target)}]`)
      expect(TableImage.read(older).table).toEqual(table)
      const [routes, fresh] = [new Routes(), new Routes()]
      await take(new TableIntake(routes), older)
      await take(new TableIntake(fresh), messages)
      expect(seen(routes)).toEqual(seen(fresh))
    }),
  )
})

test('a part with an error refuses the whole table', async () => {
  const routes = new Routes()
  const intake = new TableIntake(routes)
  const read = (part: number, entries: object, more: object = {}) =>
    intake.read({ part, base: false, entries, ...more })
  const settings = { ...tableOf({}, {}), targets: undefined }
  read(0, { targets: [['app', { id: 'srv-app', state: 'serving', upstreams: [] }]] })
  expect(() => read(1, { hosts: [['a.test', 'nobody']] })).toThrow('hosts.a.test: must name a target')
  expect(() => read(2, { hosts: [['a.test', 'app']] }, { settings })).toThrow('after an invalid part')
  expect(routes.find('a.test')).toBeUndefined()
})

test('each entry of a table that comes from the control plane is checked', () => {
  const reader = TableImage.reader()
  const faults = [
    [{ targets: [['app', '{']] }, 'targets.app: must be JSON'],
    [{ targets: [['app', '[]']] }, 'targets.app: must be an object'],
    [{ targets: [['app', 1]] }, 'targets.app: must be JSON'],
    [{ targets: [['app', { id: '', state: 'serving', upstreams: [] }]] }, 'targets.app.id: must be a name'],
    [
      { targets: [['app', { id: 'a', state: 'x', upstreams: [] }]] },
      'targets.app.state: must be a known state',
    ],
    [
      { targets: [['app', { id: 'a', state: 'serving', upstreams: [null] }]] },
      'upstreams[0]: must be an object',
    ],
    [{ hosts: [['A.test', 'app']] }, 'hosts.A.test: must be a lower case host name'],
    [{ hosts: ['a.test'] }, 'hosts: must be an array of entries'],
    [
      { certificates: [['a.test', { certificate: 'x', key: '/y' }]] },
      'certificates.a.test.certificate: must be an absolute path',
    ],
    [
      { acme_challenges: [['token', 'x']] },
      'acme_challenges.token: must have a key authorization as its value',
    ],
  ] as const
  for (const [entries, message] of faults) {
    expect(() => reader.read({ part: 0, base: false, entries }, '')).toThrow(message)
  }
})
