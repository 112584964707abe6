import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { RouteTable } from '../../proxy/protocol.ts'
import { EchoConnection, ask, closed } from './apps.ts'
import { Load, http1 } from './load.ts'
import { app, start } from './lifetimes.ts'
import { HOST, type ProxyStand, statusOf, tableOf, targetOf, type HttpUpstream } from './stand.ts'

/** As many as one server is built for. */
const MANY = 10_000

/** `MANY` hosts, each with its own target, including the app's. */
function manyHosts(upstream: HttpUpstream, version: number): RouteTable {
  const table = tableOf([upstream.spec], { version })
  for (let number = 0; number < MANY; number++) {
    const host = `10.${version}.${number >> 8}.${number & 255}`
    table.hosts[`host-${number}.example.test`] = `srv-${number}`
    table.targets[`srv-${number}`] = targetOf(
      [{ instance: `srv-${number}-${version}`, host, port: 3000 }],
      'serving',
      `srv-${number}`,
    )
  }
  return table
}

/** What answers for a host; its status if nothing does. */
async function serverOf(stand: ProxyStand, host: string): Promise<string | number> {
  const connection = stand.raw().request('GET / HTTP/1.1', `Host: ${host}`, 'Connection: close')
  const answer = await connection.end()
  return statusOf(answer) === 200 ? answer.split(' ').at(-1)! : statusOf(answer)
}

test(
  'ten thousand targets change under load without a lost request, in every worker and in those that come later',
  { timeout: 120_000 },
  async () => {
    const apps = [await app('even'), await app('odd')]
    const stand = await start(manyHosts(apps[0]!, 0), { workers: 2 })
    const load = new Load(
      http1(() => stand.port),
      100,
    )
    for (let version = 1; version <= 6; version++) {
      await stand.client.applyTable(manyHosts(apps[version % 2]!, version))
      expect(await serverOf(stand, HOST)).toBe(version % 2 === 0 ? 'even' : 'odd')
    }
    const { failures } = await load.stop()
    expect(failures).toEqual([])
    const { workers } = await stand.processes()
    for (const pid of workers) process.kill(pid, 'SIGKILL')
    await expect
      .poll(async () => (await stand.processes()).workers.filter((pid) => !workers.includes(pid)).length)
      .toBe(2)
    expect(await serverOf(stand, HOST)).toBe('even')
  },
)

test('hosts and targets come, change and go, one at a time', async () => {
  const [one, two] = [await app('one'), await app('two')]
  const stand = await start(tableOf([one.spec]))
  const table = tableOf([one.spec])
  table.targets.two = targetOf([two.spec], 'serving', 'srv-two')
  table.hosts['two.test'] = 'two'
  table.hosts['*.two.test'] = 'two'
  await stand.client.applyTable(table)
  expect(await serverOf(stand, 'two.test')).toBe('two')
  expect(await serverOf(stand, 'a.two.test')).toBe('two')
  expect(await serverOf(stand, HOST)).toBe('one')
  table.hosts['two.test'] = 'app'
  table.hosts[HOST] = 'two'
  delete table.hosts['*.two.test']
  await stand.client.applyTable(table)
  expect(await serverOf(stand, 'two.test')).toBe('one')
  expect(await serverOf(stand, HOST)).toBe('two')
  expect(await serverOf(stand, 'a.two.test')).toBe(404)
  table.targets.two.state = 'suspended'
  await stand.client.applyTable(table)
  expect(await serverOf(stand, HOST)).toBe(503)
  delete table.targets.two
  delete table.hosts[HOST]
  await stand.client.applyTable(table)
  expect(await serverOf(stand, HOST)).toBe(404)
  expect(await serverOf(stand, 'two.test')).toBe('one')
})

test('after a refused change the previous table stays, and the next change is right', async () => {
  const [one, two] = [await app('one'), await app('two')]
  const stand = await start(tableOf([one.spec]))
  const table = tableOf([two.spec])
  const bad = tableOf([two.spec], { hosts: { ...table.hosts, 'bad.test': 'nobody' } })
  await expect(stand.client.applyTable(bad)).rejects.toThrow('hosts.bad.test: must name a target')
  expect(await serverOf(stand, HOST)).toBe('one')
  const orphan = tableOf([], { targets: {} })
  await expect(stand.client.applyTable(orphan)).rejects.toThrow(`hosts.${HOST}: must name a target`)
  expect(await serverOf(stand, HOST)).toBe('one')
  await stand.client.applyTable(table)
  expect(await serverOf(stand, HOST)).toBe('two')
})

test('the table that came last counts, whoever sent it', async () => {
  const [one, two] = [await app('one'), await app('two')]
  const stand = await start(tableOf([one.spec]))
  const first = stand.client
  const other = await stand.connect(tableOf([two.spec], { hosts: { 'other.test': 'app' } }))
  expect(await serverOf(stand, 'other.test')).toBe('two')
  await first.applyTable(tableOf([one.spec], { version: 2 }))
  expect(await serverOf(stand, HOST)).toBe('one')
  expect(await serverOf(stand, 'other.test')).toBe(404)
  await other.applyTable(tableOf([two.spec], { version: 3 }))
  expect(await serverOf(stand, HOST)).toBe('two')
})

test('a listener changes from plain to TLS and back without another address', async () => {
  const upstream = await app('v')
  const stand = await start(tableOf([upstream.spec]))
  const { port } = stand
  const { workers } = await stand.processes()
  const listeners = stand.client.bound.map(({ address }) => ({ address, protocol: 'https' as const }))
  await stand.client.applyTable(tableOf([upstream.spec], { listeners }))
  expect(statusOf(await ask(stand, '/', port))).toBe(0)
  await stand.client.applyTable(tableOf([upstream.spec]))
  expect(statusOf(await ask(stand, '/', port))).toBe(200)
  expect((await stand.processes()).workers).toEqual(workers)
})

test('a table that names an address twice is refused', async () => {
  const stand = await start(tableOf([]))
  const { address } = stand.client.bound[0]!
  const listeners = (['http', 'https'] as const).map((protocol) => ({ address, protocol }))
  await expect(stand.client.applyTable(tableOf([], { listeners }))).rejects.toThrow('is listed twice')
})

test('a supervisor that starts again has the changes that were saved after the whole table', async () => {
  const [one, two] = [await app('one'), await app('two')]
  const stand = await start(tableOf([one.spec]))
  await stand.client.applyTable(tableOf([two.spec], { hosts: { [HOST]: 'app', 'more.test': 'app' } }))
  await stand.client.applyTable(tableOf([two.spec], { hosts: { 'more.test': 'app' } }))
  stand.client.close()
  const { supervisor, workers } = await stand.processes()
  for (const pid of [supervisor, ...workers]) process.kill(pid, 'SIGKILL')
  await sleep(100)
  stand.client = await stand.connect(tableOf([]), { table: undefined })
  expect(await serverOf(stand, 'more.test')).toBe('two')
  expect(await serverOf(stand, HOST)).toBe(404)
})

test('an upgraded connection stays through the swap of its target until its drain ends', async () => {
  const [old, next] = [await app('old'), await app('next')]
  const stand = await start(tableOf([old.spec]))
  const echo = await EchoConnection.open(stand)
  await stand.client.applyTable(tableOf([next.spec]))
  await echo.echoes()
  const drained = stand.client.drain('old', 1_000)
  await echo.echoes()
  await drained
  await closed(echo.connection)
  expect(await serverOf(stand, HOST)).toBe('next')
})
