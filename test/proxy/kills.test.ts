import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { EchoConnection, ask } from './apps.ts'
import { Load, http1, http2 } from './load.ts'
import { app, start } from './lifetimes.ts'
import { secureTable } from './secure.ts'
import { PROGRAM, type ProxyStand, statusOf, tableOf, type HttpUpstream } from './stand.ts'

/** Signs of life are requested every 5 s, and a worker that owes three is killed. */
const HANG_PATIENCE_MS = 60_000
/** Simultaneous HTTP/2 connections that send requests. */
const SESSIONS = 8
/** Answers by which a connection is known to be served. */
const SOME = 10

async function answered(stand: ProxyStand): Promise<number> {
  return (await stand.client.counts()).targets['srv-app']?.status_2xx ?? 0
}

/** How many clients are connected to a port through a process, read from the kernel. */
function connectionsOf(pid: number, port: number): number {
  const sockets = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`))
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const lines = readFileSync('/proc/net/tcp', 'utf8').trim().split('\n').slice(1)
  const fields = lines.map((line) => line.trim().split(/\s+/))
  // Established ones (01), by the number of their socket.
  return fields.filter(
    ([, from, , state, , , , , , inode]) =>
      from!.endsWith(local) && state === '01' && sockets.includes(`socket:[${inode}]`),
  ).length
}

test('connections that wait to be accepted survive the only worker', { timeout: 30_000 }, async () => {
  const stand = await start(tableOf([(await app('v')).spec]))
  const { workers } = await stand.processes()
  // Stopped, it accepts nothing: all of these are with the kernel when it dies.
  process.kill(workers[0]!, 'SIGSTOP')
  const waiting = Array.from({ length: 50 }, (_, number) => ask(stand, `/${number}`))
  await sleep(200)
  process.kill(workers[0]!, 'SIGKILL')
  for (const [number, answer] of (await Promise.all(waiting)).entries()) {
    expect(answer).toContain(`/${number} v`)
  }
})

test(
  'a killed worker loses what it was working on, and the counts since its last report',
  { timeout: 60_000 },
  async () => {
    const stand = await start(tableOf([(await app('v')).spec]), { workers: 2 })
    for (let kill = 0; kill < 3; kill++) {
      const told = await answered(stand)
      for (let number = 0; number < 20; number++) await ask(stand, `/${number}`)
      const load = new Load(
        http1(() => stand.port),
        100,
      )
      await sleep(500)
      const { workers } = await stand.processes()
      const during = await answered(stand)
      expect(during).toBeGreaterThanOrEqual(told + 20)
      process.kill(workers[kill % 2]!, 'SIGKILL')
      await expect.poll(async () => (await stand.processes()).workers.length).toBe(2)
      const { failures } = await load.stop()
      // Only connections that were cut, never a wrong answer.
      expect(failures.filter((failure) => !/ECONNRESET|socket hang up/.test(failure))).toEqual([])
      expect(await answered(stand)).toBeGreaterThanOrEqual(during)
    }
  },
)

test(
  'a killed worker takes down no HTTP/2 requests except those of its own connections',
  { timeout: 60_000 },
  async () => {
    const stand = await start(secureTable([(await app('v')).spec]), { workers: 2 })
    const port = () => stand.client.bound.find(({ host }) => host === '127.0.0.2')!.port
    for (let kill = 0; kill < 3; kill++) {
      const { workers } = await stand.processes()
      const killed = workers[kill % 2]!
      const loads = Array.from({ length: SESSIONS }, () => new Load(http2(port), 50))
      const counts = () => loads.map(({ result }) => result.answered)
      // A worker that has just started may take long for its first handshakes: what waits there is its own.
      await expect.poll(() => Math.min(...counts())).toBeGreaterThan(SOME)
      const held = connectionsOf(killed, port())
      process.kill(killed, 'SIGKILL')
      const before = counts()
      const others = async () => (await stand.processes()).workers.filter((pid) => pid !== killed)
      await expect.poll(async () => (await others()).length).toBe(2)
      // What comes after the end of the connection goes over another, and is answered.
      await expect
        .poll(() => Math.min(...counts().map((count, load) => count - before[load]!)))
        .toBeGreaterThan(SOME)
      const results = await Promise.all(loads.map((load) => load.stop()))
      const failed = results.filter(({ failures }) => failures.length > 0)
      expect(failed.length).toBeLessThanOrEqual(held)
      for (const { failures } of failed)
        expect(
          failures.filter((failure) => !/ECONNRESET|closed|destroyed|canceled|status 0/.test(failure)),
        ).toEqual([])
    }
  },
)

test('no count decreases when a worker dies and the supervisor after it', { timeout: 60_000 }, async () => {
  const stand = await start(tableOf([(await app('v')).spec]), { workers: 2 })
  for (let number = 0; number < 40; number++) await ask(stand, `/${number}`)
  const before = await stand.client.counts()
  expect(before.targets['srv-app']!.status_2xx).toBe(40)
  const { supervisor, workers } = await stand.processes()
  process.kill(workers[0]!, 'SIGKILL')
  process.kill(supervisor, 'SIGKILL')
  await stand.reconnection()
  const after = await stand.client.counts()
  expect(after.incarnation).toBe(before.incarnation)
  expect(after.targets['srv-app']!.status_2xx).toBe(40)
})

test(
  'a supervisor that dies again and again takes down no request and no open connection',
  { timeout: 90_000 },
  async () => {
    const stand = await start(tableOf([(await app('v')).spec]), { workers: 2 })
    const echo = await EchoConnection.open(stand)
    const load = new Load(
      http1(() => stand.port),
      100,
    )
    const { incarnation } = await stand.client.counts()
    for (let kill = 0; kill < 3; kill++) {
      const { supervisor } = await stand.processes()
      const back = stand.reconnection()
      process.kill(supervisor, 'SIGKILL')
      await back
      await echo.echoes()
    }
    const { answered: seen, failures } = await load.stop()
    expect(failures).toEqual([])
    expect((await stand.client.counts()).incarnation).toBe(incarnation)
    await expect.poll(() => answered(stand)).toBe(seen + 1)
  },
)

/** A control plane as a separate process, which applies one table after the other. */
async function pushingProcess(stand: ProxyStand, upstream: HttpUpstream): Promise<ChildProcess> {
  const options = {
    dataDirectory: stand.directory,
    serverId: 'server-1',
    version: '1.0.0',
    program: PROGRAM,
    node: process.execPath,
    workers: 1,
    table: tableOf([upstream.spec]),
  }
  const ownProxy = join(import.meta.dirname, '../../daemon/proxy/own-proxy.ts')
  const script = join(stand.directory, 'push.ts')
  writeFileSync(
    script,
    `import { connectOwnProxy } from ${JSON.stringify(ownProxy)}
const options = ${JSON.stringify(options)}
const client = await connectOwnProxy({ ...options, log: () => {} })
for (let version = 1; ; version++) {
  options.table.hosts = { 'app.test': 'app' }
  for (let host = 0; host < 5_000; host++) options.table.hosts['host-' + host + '-' + version + '.test'] = 'app'
  await client.applyTable({ ...options.table, version })
  process.stdout.write('applied\\n')
}
`,
  )
  const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return child
}

test(
  'a control plane that is killed while it sends a table disturbs nobody',
  { timeout: 60_000 },
  async () => {
    const upstream = await app('v')
    const stand = await start(tableOf([upstream.spec]))
    const load = new Load(
      http1(() => stand.port),
      100,
    )
    const { supervisor, workers } = await stand.processes()
    for (let kill = 0; kill < 3; kill++) {
      const child = await pushingProcess(stand, upstream)
      await sleep(50 + kill * 30)
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    await stand.client.applyTable(tableOf([upstream.spec], { version: 2 }))
    const { failures } = await load.stop()
    expect(failures).toEqual([])
    expect(await stand.processes()).toEqual({ supervisor, workers })
  },
)

test(
  'a worker that hangs is replaced, and its connections are served by the next',
  { timeout: HANG_PATIENCE_MS * 2 },
  async () => {
    const stand = await start(tableOf([(await app('v')).spec]))
    const { workers } = await stand.processes()
    process.kill(workers[0]!, 'SIGSTOP')
    const waiting = stand.raw().request('GET /x HTTP/1.1', 'Host: app.test', 'Connection: close')
    await expect
      .poll(async () => (await stand.processes()).workers, { timeout: HANG_PATIENCE_MS, interval: 200 })
      .not.toContain(workers[0])
    expect(await waiting.end()).toContain('/x v')
    expect(stand.log).toContain('a worker hangs and is killed')
    expect(statusOf(await ask(stand, '/y'))).toBe(200)
  },
)
