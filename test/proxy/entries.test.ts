import { setTimeout as delay } from 'node:timers/promises'
import { onTestFinished, expect, test } from 'vitest'
import { Entry } from '../../daemon/entries/entry.ts'
import type { EntryWay, Terms } from '../../daemon/entries/terms.ts'
import { stageProgram } from '../../daemon/proxy/launch.ts'
import { reachProxy } from '../../daemon/proxy/reach.ts'
import type { Upstream } from '../../proxy/protocol.ts'
import { EchoConnection, ask } from './apps.ts'
import { app, start } from './lifetimes.ts'
import { PROGRAM, type ProxyStand, tableOf } from './stand.ts'

/** A change waits for 5 s; the rest is a busy machine. */
const GIVEN_UP_MS = 15_000
/** How long a drain may take. */
const DRAIN_MS = 1_500
const SLOW_MS = 300
/** Only what hangs takes so long. */
const HANG_MS = 50_000
/** As soon as that is told of one that answers. */
const AT_ONCE_MS = 2_000

/** An entry whose data plane is that of a stand, and what it told. */
interface Followed {
  entry: Entry
  faults: (string | null)[]
  returns: number
  /** How often it was brought about. */
  ensured: number
}

function follow(stand: ProxyStand, way: Partial<EntryWay> = {}): Followed {
  const followed = { faults: [], returns: 0, ensured: 0 } as unknown as Followed
  const reach = {
    dataDirectory: stand.directory,
    serverId: 'server-1',
    node: process.execPath,
    log: () => {},
  }
  const program = stageProgram(stand.directory, PROGRAM, '1.0.0')
  followed.entry = new Entry(
    {
      ensure: async () => void followed.ensured++,
      reach: () => reachProxy(reach, program, 1, 0),
      deliver: async (table) => table,
      sweep: async () => {},
      ...way,
    },
    { onFault: (fault) => followed.faults.push(fault), onReturn: () => followed.returns++ },
  )
  onTestFinished(() => followed.entry.close())
  return followed
}

let version = 10

function termsOf(upstreams: Upstream[], networks = ''): Terms {
  return { table: tableOf(upstreams, { version: version++ }), ports: [80], networks }
}

async function begun(followed: Followed, terms: Terms): Promise<void> {
  followed.entry.begin(() => terms)
  await followed.entry.idle
  expect([followed.entry.isFollowing, followed.faults.at(-1)]).toEqual([true, null])
}

test('an entry is given each table, and is waited for', async () => {
  const [first, second] = [await app('first'), await app('second')]
  const stand = await start(tableOf([]))
  const followed = follow(stand)
  await begun(followed, termsOf([first.spec]))
  expect(await ask(stand, '/')).toContain('first')
  await followed.entry.follow(termsOf([second.spec]))
  expect(await ask(stand, '/')).toContain('second')
  expect(followed).toMatchObject({ returns: 1, ensured: 1 })
  await followed.entry.follow(termsOf([second.spec], 'one more'))
  expect(followed.ensured).toBe(2)
})

test(
  'one that does not answer holds up a change for seconds, others not at all, and has all of it before it counts again',
  { timeout: 60_000 },
  async () => {
    const apps = await Promise.all(['first', 'second', 'third'].map((name) => app(name)))
    const [first, second, third] = apps.map(({ spec }) => termsOf([spec]))
    const stand = await start(tableOf([]))
    const followed = follow(stand)
    const { entry, faults } = followed
    await begun(followed, first!)
    const { supervisor } = await stand.processes()
    process.kill(supervisor, 'SIGSTOP')
    onTestFinished(() => void process.kill(supervisor, 'SIGCONT'))

    const began = performance.now()
    await entry.follow(second!)
    const tookMs = performance.now() - began
    expect(tookMs).toBeGreaterThan(4_000)
    expect(tookMs).toBeLessThan(GIVEN_UP_MS)
    expect(entry.isFollowing).toBe(false)
    expect(faults.at(-1)).toMatch(/^as an entry, it serves by earlier routes: it does not answer within 5 s$/)
    const again = performance.now()
    await entry.follow(third!)
    expect(performance.now() - again).toBeLessThan(AT_ONCE_MS)
    expect(await ask(stand, '/')).toContain('first')
    // Its requests to what leaves get their time.
    await entry.drain('first', DRAIN_MS)
    expect(performance.now() - again).toBeGreaterThan(DRAIN_MS - 100)
    const drained = entry.drain('first', HANG_MS)

    process.kill(supervisor, 'SIGCONT')
    await expect
      .poll(async () => {
        entry.begin(() => third!)
        await entry.idle
        return entry.isFollowing
      })
      .toBe(true)
    expect(await ask(stand, '/')).toContain('third')
    await drained
    expect([faults.at(-1), followed.returns]).toEqual([null, 2])
  },
)

test('one whose node is away is not waited for and not blamed, and begins again at once', async () => {
  const stand = await start(tableOf([]))
  const followed = follow(stand)
  const { entry } = followed
  const { spec } = await app('first')
  await begun(followed, termsOf([spec]))
  entry.rest()
  expect([entry.isFollowing, followed.faults.at(-1)]).toEqual([false, null])
  await begun(followed, termsOf([spec]))
})

test('one that cannot be brought about says why, and changes do not wait for it', async () => {
  const stand = await start(tableOf([]))
  const followed = follow(stand, {
    ensure: () => Promise.reject(new Error('port 80 is taken')),
  })
  followed.entry.begin(() => termsOf([]))
  await followed.entry.tried
  expect(followed.faults).toEqual([
    'as an entry, it does not serve yet: it is being prepared',
    'as an entry, it does not serve yet: port 80 is taken',
  ])
  expect(followed.entry.isFollowing).toBe(false)
})

test('one that is slow is given the newest table next, and none between', async () => {
  const stand = await start(tableOf([]))
  const given: number[] = []
  const followed = follow(stand, {
    async deliver(table) {
      await delay(given.push(table.version) === 1 ? 0 : SLOW_MS)
      return table
    },
  })
  const { spec } = await app('last')
  await begun(followed, termsOf([]))
  const changes = [termsOf([]), termsOf([]), termsOf([]), termsOf([spec])]
  const [first, ...others] = changes.map((terms) => () => followed.entry.follow(terms))
  const began = first!()
  await delay(SLOW_MS / 3)
  await Promise.all([began, ...others.map((given) => given())])
  const versions = changes.map(({ table }) => table.version)
  expect(given.slice(1)).toEqual([versions[0], versions[3]])
  expect(await ask(stand, '/')).toContain('last')
})

test('a drain waits for the requests that are open there', { timeout: 30_000 }, async () => {
  const [first, second] = [await app('first'), await app('second')]
  const stand = await start(tableOf([]))
  const followed = follow(stand)
  await begun(followed, termsOf([first.spec]))
  const open = await EchoConnection.open(stand)
  await followed.entry.follow(termsOf([second.spec]))
  let isDrained = false
  const drained = followed.entry.drain(first.spec.instance, 20_000).then(() => (isDrained = true))
  await open.echoes()
  expect(isDrained).toBe(false)
  open.connection.close()
  await drained
})

test('it is asked what it has counted, and so whether it is there', { timeout: 60_000 }, async () => {
  const stand = await start(tableOf([]))
  const followed = follow(stand)
  const { spec } = await app('first')
  await begun(followed, termsOf([spec]))
  expect(followed.entry.counts).toMatchObject({ targets: {} })
  const { supervisor } = await stand.processes()
  await expect
    .poll(async () => {
      await ask(stand, '/')
      await followed.entry.beat()
      return followed.entry.counts?.targets['srv-app']?.status_2xx ?? 0
    })
    .toBeGreaterThan(0)
  process.kill(supervisor, 'SIGSTOP')
  onTestFinished(() => void process.kill(supervisor, 'SIGCONT'))
  await expect
    .poll(async () => {
      await followed.entry.beat()
      return followed.entry.isFollowing
    })
    .toBe(false)
})
