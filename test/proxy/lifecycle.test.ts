import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { getPriority, setPriority } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ProxyListenError } from '../../daemon/proxy/client.ts'
import { findProxy } from '../../daemon/proxy/find.ts'
import { workerSocketFile } from '../../proxy/control/paths.ts'
import { PRIORITY_OF_REQUESTS } from '../../proxy/control/priority.ts'
import { runs } from '../support/runs.ts'
import { Load, http1 } from './load.ts'
import { app, closing, start } from './lifetimes.ts'
import { HOST, ProxyStand, RawUpstream, statusOf, tableOf, targetOf, waitFor } from './stand.ts'

/** Nothing is cut at a deadline that is as late as the end of the test. */
const TEST_MS = 60_000
const SWAPS = runs(50)

/** A data plane that has lost its folder ends only after a while. */
const GRACE = { timeout: 30_000 }

/** The priority of workers if this process may raise priorities (setpriority(2)), like one that starts servers as root. */
const OF_WORKERS = mayRaise() && getPriority() === 0 ? PRIORITY_OF_REQUESTS : getPriority()

function mayRaise(): boolean {
  const child = spawn('sleep', ['60'])
  try {
    setPriority(child.pid!, PRIORITY_OF_REQUESTS)
    return true
  } catch {
    return false
  } finally {
    child.kill()
  }
}

/** The priority of what answers requests, and of every thread of the supervisor. */
async function priorities(stand: ProxyStand): Promise<{ workers: number[]; supervisor: number[] }> {
  const { workers, supervisor } = await stand.processes()
  const threads = readdirSync(`/proc/${supervisor}/task`).map(Number)
  return {
    workers: workers.map((pid) => getPriority(pid)),
    supervisor: [...new Set(threads.map((thread) => getPriority(thread)))],
  }
}

/** Threads on which V8 compiles and collects next to the one that runs the program. */
function helpers(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`)
  const names = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/comm`, 'latin1'))
  return names.filter((name) => name.includes('V8Worker')).length
}

test(
  'swaps under load lose no request, each old instance being closed once drained',
  { timeout: TEST_MS },
  async () => {
    let current = await app('v0')
    const stand = await start(tableOf([current.spec]), { workers: 2 })
    const load = new Load(
      http1(() => stand.port),
      600,
    )
    for (let version = 1; version <= SWAPS; version++) {
      const next = await app(`v${version}`)
      await stand.client.applyTable(tableOf([next.spec], { version }))
      await stand.client.drain(current.instance, TEST_MS)
      current.close()
      current = next
      await sleep(40)
    }
    const { answered, failures, bodies } = await load.stop()
    expect(failures).toEqual([])
    expect(answered).toBeGreaterThan(SWAPS * 10)
    expect(bodies.size).toBeGreaterThan(SWAPS * 0.9)
    const { targets } = await stand.client.counts()
    expect(targets['srv-app']).toMatchObject({ status_2xx: answered, status_4xx: 0, status_5xx: 0 })
  },
)

test('however a supervisor was started, it and its workers leave the cores to requests', GRACE, async () => {
  const stand = await start(tableOf([]))
  const each = async () => {
    const { supervisor, workers } = await stand.processes()
    return [supervisor, ...workers].map(helpers)
  }
  expect(await each()).toEqual([1, 1])
  stand.client.close()
  stand.client = await stand.connect(tableOf([]), { version: '2.0.0' })
  expect((await each()).every((threads) => threads === 1)).toBe(true)
  process.kill((await stand.processes()).supervisor, 'SIGKILL')
  await stand.reconnection()
  expect((await each()).every((threads) => threads === 1)).toBe(true)
})

test('a killed worker is replaced and the others keep serving', { timeout: 30_000 }, async () => {
  const upstream = await app('v')
  const stand = await start(tableOf([upstream.spec]), { workers: 2 })
  const load = new Load(
    http1(() => stand.port),
    200,
  )
  const more = async (requests: number) => {
    const { answered } = load.result
    await expect.poll(() => load.result.answered).toBeGreaterThan(answered + requests)
  }
  await more(50)
  const { workers } = await stand.processes()
  expect(workers).toHaveLength(2)
  process.kill(workers[0]!, 'SIGKILL')
  await expect
    .poll(async () => (await stand.processes()).workers.filter((pid) => !workers.includes(pid)).length)
    .toBe(1)
  expect((await stand.processes()).workers).toContain(workers[1])
  await more(20)
  const { next } = load
  await more(100)
  const { failures } = await load.stop()
  // Only what the killed process was working on is lost: connections cut, never a wrong answer.
  expect(failures.filter((failure) => !/ECONNRESET|socket hang up/.test(failure))).toEqual([])
  expect(failures.filter((failure) => parseInt(failure.split(' ')[1]!) >= next)).toEqual([])
})

test(
  'a killed supervisor is replaced through its workers without a lost request',
  { timeout: 30_000 },
  async () => {
    const upstream = await app('v')
    const stand = await start(tableOf([upstream.spec]), { workers: 1 })
    let reconnected = 0
    stand.client.onReconnect = () => void reconnected++
    const load = new Load(
      http1(() => stand.port),
      300,
    )
    await sleep(300)
    const before = await stand.processes()
    const counted = (await stand.client.counts()).targets['srv-app']!.status_2xx
    await sleep(100)
    const { port } = stand
    process.kill(before.supervisor, 'SIGKILL')
    await waitFor(
      () => reconnected > 0,
      () => `no reconnection: ${stand.messages.join('\n')}\n${stand.log}`,
    )
    await sleep(500)
    const { answered, failures } = await load.stop()
    expect(failures).toEqual([])
    const after = await stand.processes()
    expect(after.supervisor).not.toBe(before.supervisor)
    expect(stand.port).toBe(port)
    const total = (await stand.client.counts()).targets['srv-app']!.status_2xx
    expect(total).toBeGreaterThanOrEqual(counted)
    expect(total).toBe(answered)
  },
)

test(
  'another version takes over under load without a lost request, and counts continue',
  { timeout: 60_000 },
  async () => {
    const upstream = await app('v')
    const table = tableOf([upstream.spec])
    const stand = await start(table, { workers: 1 })
    const load = new Load(
      http1(() => stand.port),
      300,
    )
    await sleep(200)
    const first = await stand.processes()
    for (const version of ['2.0.0', '3.0.0', '1.0.0']) {
      stand.client.close()
      stand.client = await stand.connect(table, { version, workers: 2 })
      await sleep(200)
    }
    const { answered, failures } = await load.stop()
    expect(failures).toEqual([])
    const last = await stand.processes()
    expect(last.supervisor).not.toBe(first.supervisor)
    await expect.poll(async () => (await stand.client.counts()).targets['srv-app']!.status_2xx).toBe(answered)
    await expect.poll(async () => (await stand.processes()).workers.length).toBe(2)
  },
)

test('the data plane keeps serving when its control plane ends, and a new one finds it', async () => {
  const upstream = await app('v')
  const table = tableOf([upstream.spec])
  const stand = await start(table)
  const { port } = stand
  stand.client.close()
  const client = stand.raw(port).request('GET /x HTTP/1.1', `Host: ${HOST}`, 'Connection: close')
  expect(await client.end()).toContain('/x v')
  const { supervisor } = await stand.processes()
  stand.client = await stand.connect(table)
  expect(stand.port).toBe(port)
  expect((await stand.processes()).supervisor).toBe(supervisor)
})

test('workers have priority over their supervisor, also over one that a worker has started', async () => {
  const stand = await start(tableOf([]), { workers: 2 })
  const inOrder = { workers: [OF_WORKERS, OF_WORKERS], supervisor: [getPriority()] }
  expect(await priorities(stand)).toEqual(inOrder)
  const reconnected = stand.reconnection()
  process.kill((await stand.processes()).supervisor, 'SIGKILL')
  await reconnected
  await expect.poll(() => priorities(stand)).toEqual(inOrder)
})

test('a data plane of another server is refused', async () => {
  const stand = await start(tableOf([]))
  await expect(stand.connect(tableOf([]), { serverId: 'server-2' })).rejects.toThrow(
    'belongs to another server',
  )
})

test(
  'a data plane that starts serves its saved table before any control plane sends one',
  { timeout: 30_000 },
  async () => {
    const upstream = await app('v')
    const stand = await start(tableOf([upstream.spec]))
    const { supervisor, workers } = await stand.processes()
    const address = `127.0.0.1:${stand.port}`
    const fixed = tableOf([upstream.spec], { listeners: [{ address, protocol: 'http' }] })
    await stand.client.applyTable(fixed)
    stand.client.close()
    for (const pid of [supervisor, ...workers, ...(await stand.processes()).workers]) kill(pid)
    await sleep(100)
    stand.client = await stand.connect(fixed)
    expect(stand.client.bound).toMatchObject([{ address }])
    const client = stand.raw().request('GET /x HTTP/1.1', `Host: ${HOST}`, 'Connection: close')
    expect(await client.end()).toContain('/x v')
  },
)

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended already.
  }
}

test('drain waits for open requests and cuts the rest at its deadline', async () => {
  const slow = await app('slow', 300)
  const fast = await app('fast')
  const stand = await start(tableOf([slow.spec]))
  let isAnswered = false
  const arrived = once(slow.server, 'request') as Promise<[IncomingMessage, ServerResponse]>
  const client = stand.raw().request('GET /slow HTTP/1.1', `Host: ${HOST}`)
  const [, response] = await arrived
  response.on('finish', () => (isAnswered = true))
  await stand.client.applyTable(tableOf([fast.spec]))
  await stand.client.drain('slow', TEST_MS)
  expect(isAnswered).toBe(true)
  await client.until('/slow slow')
  client.request('GET /next HTTP/1.1', `Host: ${HOST}`)
  await client.until('/next fast')
  client.close()
  const silent = closing(
    await RawUpstream.start((socket, piece) => {
      if (piece.startsWith('GET'))
        socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n')
    }),
  )
  await stand.client.applyTable(tableOf([silent.spec]))
  const socket = stand
    .raw()
    .request('GET / HTTP/1.1', `Host: ${HOST}`, 'Upgrade: websocket', 'Connection: upgrade')
  await socket.until('101')
  await stand.client.applyTable(tableOf([fast.spec]))
  await stand.client.drain(silent.spec.instance, 200)
  await socket.end()
})

test('hosts are found regardless of case, port and trailing dot; wildcards come after exact names', async () => {
  const exact = await app('exact')
  const wild = await app('wild')
  const deep = await app('deep')
  const stand = await start(
    tableOf([], {
      hosts: { 'a.example.test': 'exact', '*.example.test': 'wild', '*.deep.example.test': 'deep' },
      targets: {
        exact: targetOf([exact.spec]),
        wild: targetOf([wild.spec]),
        deep: targetOf([deep.spec]),
      },
    }),
  )
  const found = async (host: string) =>
    (await stand.raw().request('GET / HTTP/1.1', `Host: ${host}`, 'Connection: close').end())
      .split(' ')
      .at(-1)
  expect(await found('A.Example.TEST.:8080')).toBe('exact')
  expect(await found('b.example.test')).toBe('wild')
  expect(await found('x.y.example.test')).toBe('wild')
  expect(await found('b.deep.example.test')).toBe('deep')
  const none = await stand.raw().request('GET / HTTP/1.1', 'Host: example.test', 'Connection: close').end()
  expect(statusOf(none)).toBe(404)
})

test.each(['suspended', 'not_deployed', 'starting', 'failed', 'scaled_to_zero'] as const)(
  'a target that is %s is 503 and counted',
  async (state) => {
    const stand = await start(tableOf([], { targets: { app: targetOf([], state) } }))
    const html = await stand
      .raw()
      .request('GET / HTTP/1.1', `Host: ${HOST}`, 'Accept: text/html, */*', 'Connection: close')
      .end()
    expect(html).toMatch(/^HTTP\/1\.1 503 [^]*text\/html[^]*<h1>/)
    const json = await stand
      .raw()
      .request('GET / HTTP/1.1', `Host: ${HOST}`, 'Accept: application/json', 'Connection: close')
      .end()
    expect(JSON.parse(json.split('\r\n\r\n')[1]!)).toMatchObject({ error: { code: 'service_unavailable' } })
    const head = await stand.raw().request('HEAD / HTTP/1.1', `Host: ${HOST}`, 'Connection: close').end()
    expect(head).toMatch(/\r\n\r\n$/)
    expect((await stand.client.counts()).targets['srv-app']).toMatchObject({ status_5xx: 3 })
  },
)

test('an invalid table is refused completely and the previous one stays', async () => {
  const upstream = await app('v')
  const stand = await start(tableOf([upstream.spec]))
  const bad = tableOf([{ ...upstream.spec, host: 'not-an-address' }], { hosts: {} })
  await expect(stand.client.applyTable(bad)).rejects.toThrow(
    'targets.app.upstreams[0].host: must be an IP address',
  )
  await expect(stand.client.applyTable(tableOf([], { hosts: { x: 'nobody' } }))).rejects.toThrow(
    'must name a target',
  )
  const client = stand.raw().request('GET /x HTTP/1.1', `Host: ${HOST}`, 'Connection: close')
  expect(await client.end()).toContain('/x v')
})

test('an address that another program has is reported with code and address, and nothing changes', async () => {
  const holder = closing(await RawUpstream.start(() => {}))
  const stand = new ProxyStand()
  onTestFinished(() => stand.stop())
  const address = `127.0.0.1:${holder.port}`
  const taken = tableOf([], { listeners: [{ address, protocol: 'http' }] })
  const failure = await stand.connect(taken).catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(ProxyListenError)
  expect(failure).toMatchObject({ code: 'EADDRINUSE', address })
  stand.client = await stand.connect(tableOf([]))
  const { port } = stand
  await expect(stand.client.applyTable(taken)).rejects.toMatchObject({ code: 'EADDRINUSE', address })
  expect(
    statusOf(await stand.raw(port).request('GET / HTTP/1.1', 'Host: a.test', 'Connection: close').end()),
  ).toBe(404)
})

test(
  'listen addresses change while connections to the old ones are finished',
  { timeout: 30_000 },
  async () => {
    const upstream = await app('v')
    const stand = await start(tableOf([upstream.spec]))
    const old = stand.raw().request('GET /one HTTP/1.1', `Host: ${HOST}`)
    await old.until('/one v')
    await stand.client.applyTable(
      tableOf([upstream.spec], { listeners: [{ address: '[::]:0', protocol: 'http' }] }),
    )
    old.request('GET /two HTTP/1.1', `Host: ${HOST}`)
    expect(await old.end()).toMatch(/Connection: close[^]*\/two v$/)
    const fresh = stand.raw().request('GET /three HTTP/1.1', `Host: ${HOST}`, 'Connection: close')
    expect(await fresh.end()).toContain('/three v')
  },
)

test('an address gives way to another that overlaps it, and comes back if the other is not available', async () => {
  const stand = await start(tableOf([]))
  const { port } = stand
  const on = (...addresses: string[]) =>
    tableOf([], { listeners: addresses.map((address) => ({ address, protocol: 'http' })) })
  const status = async () =>
    statusOf(await stand.raw(port).request('GET / HTTP/1.1', 'Host: a.test', 'Connection: close').end())
  await stand.client.applyTable(on(`0.0.0.0:${port}`))
  expect(await status()).toBe(404)
  await stand.client.applyTable(on(`[::]:${port}`))
  expect(stand.client.bound).toMatchObject([{ address: `[::]:${port}`, port }])
  expect(await status()).toBe(404)
  const holder = closing(await RawUpstream.start(() => {}))
  const both = on(`0.0.0.0:${port}`, `127.0.0.1:${holder.port}`)
  await expect(stand.client.applyTable(both)).rejects.toMatchObject({ code: 'EADDRINUSE' })
  expect(await status()).toBe(404)
})

test('a data directory with a long path works', async () => {
  const stand = new ProxyStand('x'.repeat(120))
  onTestFinished(() => stand.stop())
  stand.client = await stand.connect(tableOf([]))
  expect(
    statusOf(await stand.raw().request('GET / HTTP/1.1', 'Host: a.test', 'Connection: close').end()),
  ).toBe(404)
})

test('stop ends every process, found only through the directory', async () => {
  const stand = await start(tableOf([]), { workers: 2 })
  const before = await stand.processes()
  stand.client.close()
  const found = await findProxy(stand.directory)
  await found!.stop()
  await expect.poll(async () => await stand.processes()).toEqual({ supervisor: 0, workers: [] })
  expect(await findProxy(stand.directory)).toBeNull()
  expect(before.workers).toHaveLength(2)
  stand.client = await stand.connect(tableOf([]))
})

test('workers without a supervisor are found and ended too', async () => {
  const stand = await start(tableOf([]))
  stand.client.close()
  const { supervisor } = await stand.processes()
  process.kill(supervisor, 'SIGKILL')
  await sleep(50)
  const found = await findProxy(stand.directory)
  await found!.stop()
  await expect.poll(async () => (await stand.processes()).workers).toEqual([])
  stand.client = await stand.connect(tableOf([]))
})

describe('a data plane without a control plane', () => {
  test('ends when its data directory is removed', { timeout: 60_000 }, async () => {
    const stand = await start(tableOf([(await app('v')).spec]), { workers: 2 })
    const { supervisor, workers } = await stand.processes()
    stand.client.close()
    rmSync(stand.directory, { recursive: true })
    await expect.poll(() => [supervisor, ...workers].filter(isAlive), GRACE).toEqual([])
    mkdirSync(stand.directory)
    stand.client = await stand.connect(tableOf([]))
  })

  test('also ends then if its supervisor was killed', { timeout: 60_000, tags: ['slow'] }, async () => {
    const stand = await start(tableOf([(await app('v')).spec]), { workers: 2 })
    const { supervisor, workers } = await stand.processes()
    stand.client.close()
    process.kill(supervisor, 'SIGKILL')
    await expect.poll(() => isAlive(supervisor)).toBe(false)
    rmSync(stand.directory, { recursive: true })
    await expect.poll(() => workers.filter(isAlive), GRACE).toEqual([])
    mkdirSync(stand.directory)
    stand.client = await stand.connect(tableOf([]))
  })

  test('does not touch what replaces its data directory', { timeout: 60_000 }, async () => {
    const stand = await start(tableOf([(await app('v')).spec]))
    const { supervisor, workers } = await stand.processes()
    stand.client.close()
    rmSync(stand.directory, { recursive: true })
    const folder = join(stand.directory, 'proxy')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'control.sock'), 'of a successor')
    await expect.poll(() => [supervisor, ...workers].filter(isAlive), GRACE).toEqual([])
    expect(readdirSync(folder)).toEqual(['control.sock'])
    stand.client = await stand.connect(tableOf([]))
  })

  test('keeps serving when only its socket is removed, and is found again', { timeout: 60_000 }, async () => {
    const stand = await start(tableOf([(await app('v')).spec]))
    const before = await stand.processes()
    stand.client.close()
    const socket = join(stand.directory, 'proxy/control.sock')
    rmSync(socket)
    await expect.poll(() => existsSync(socket), GRACE).toBe(true)
    expect(await stand.processes()).toEqual(before)
    stand.client = await stand.connect(tableOf([]))
    expect(await stand.processes()).toEqual(before)
  })

  test(
    'leaves no process behind if its supervisor dies after a worker has lost its socket',
    { timeout: 60_000 },
    async () => {
      const stand = await start(tableOf([(await app('v')).spec]))
      const { supervisor, workers } = await stand.processes()
      const socket = workerSocketFile(stand.directory, workers[0]!)
      rmSync(socket)
      await expect.poll(() => existsSync(socket), GRACE).toBe(true)
      const back = stand.reconnection()
      process.kill(supervisor, 'SIGKILL')
      await back
      await expect.poll(() => [supervisor, ...workers].filter(isAlive)).toEqual([])
    },
  )

  test(
    'is found by its workers if its supervisor was killed, even if their sockets were removed',
    { timeout: 60_000 },
    async () => {
      const stand = await start(tableOf([(await app('v')).spec]))
      const { supervisor, workers } = await stand.processes()
      stand.client.close()
      process.kill(supervisor, 'SIGKILL')
      await expect.poll(() => isAlive(supervisor)).toBe(false)
      const socket = workerSocketFile(stand.directory, workers[0]!)
      rmSync(socket)
      await expect.poll(() => existsSync(socket), GRACE).toBe(true)
      stand.client = await stand.connect(tableOf([]))
      expect((await stand.processes()).supervisor).not.toBe(supervisor)
      await expect.poll(() => workers.filter(isAlive)).toEqual([])
    },
  )
})

function isAlive(pid: number): boolean {
  try {
    // A zombie does not serve.
    return !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
