import { renameSync } from 'node:fs'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { expect, test } from 'vitest'
import type { Counts } from '../../proxy/protocol.ts'
import { runs } from '../support/runs.ts'
import { EchoConnection } from './apps.ts'
import { Load, http1, http2 } from './load.ts'
import { secureConnection, secureTable } from './secure.ts'
import { app, start } from './lifetimes.ts'
import { HOST, type ProxyStand, tableOf, waitFor } from './stand.ts'

/** Each starts two programs; on a busy machine that takes some seconds. */
const SWAPS = runs(100)
const SECURE_SWAPS = 5
const SWAPS_HANG_MS = 240_000

/** Lets a program of another version take over. */
async function upgrade(stand: ProxyStand, version: string): Promise<void> {
  stand.client.close()
  stand.client = await stand.connect(tableOf([]), { version, table: undefined })
}

function answeredOf({ targets }: Counts): number {
  return targets['srv-app']?.status_2xx ?? 0
}

test(
  'programs that follow each other under load: no request fails, none is counted twice or forgotten',
  { timeout: SWAPS_HANG_MS },
  async () => {
    const stand = await start(tableOf([(await app('v')).spec]))
    const echo = await EchoConnection.open(stand)
    const load = new Load(
      http1(() => stand.port),
      100,
    )
    const supervisors = new Set([(await stand.processes()).supervisor])
    let before = await stand.client.counts()
    for (let swap = 1; swap <= SWAPS; swap++) {
      await upgrade(stand, `${swap}.0.0`)
      const counts = await stand.client.counts()
      expect(counts.incarnation).toBe(before.incarnation)
      expect(answeredOf(counts)).toBeGreaterThanOrEqual(answeredOf(before))
      before = counts
    }
    const { answered, failures } = await load.stop()
    expect(failures).toEqual([])
    expect(answered).toBeGreaterThan(SWAPS)
    await echo.echoes()
    supervisors.add((await stand.processes()).supervisor)
    expect(supervisors.size).toBe(2)
    // The upgraded connection is one more.
    await expect.poll(async () => answeredOf(await stand.client.counts())).toBe(answered + 1)
  },
)

test(
  'TLS and HTTP/2 connections survive upgrades and the death of supervisors without a failed request',
  { timeout: SWAPS_HANG_MS },
  async () => {
    const stand = await start(secureTable([(await app('v')).spec]))
    const securePort = () => stand.client.bound.find(({ host }) => host === '127.0.0.2')!.port
    const loads = [http1(securePort, { secure: true }), http2(securePort)].map(
      (client) => new Load(client, 50),
    )
    for (let swap = 1; swap <= SECURE_SWAPS; swap++) {
      await upgrade(stand, `${swap}.0.0`)
      const { supervisor } = await stand.processes()
      const back = stand.reconnection()
      process.kill(supervisor, 'SIGKILL')
      await back
    }
    for (const load of loads) {
      const { answered, failures } = await load.stop()
      expect(failures).toEqual([])
      expect(answered).toBeGreaterThan(SECURE_SWAPS)
    }
  },
)

test('a TLS session resumes after its worker was replaced and after an upgrade', async () => {
  const stand = await start(secureTable([(await app('v')).spec]))
  const { port } = stand.client.bound[1]!
  const first = await secureConnection(port)
  const session = await sessionOf(first)
  first.destroy()
  const { workers } = await stand.processes()
  process.kill(workers[0]!, 'SIGKILL')
  expect(await resumes(port, session)).toBe(true)
  await upgrade(stand, '2.0.0')
  expect(await resumes(port, session)).toBe(true)
})

test('a data plane whose control socket is where older ones had it is upgraded', async () => {
  const stand = await start(tableOf([(await app('v')).spec]))
  const load = new Load(
    http1(() => stand.port),
    10,
  )
  const { supervisor } = await stand.processes()
  renameSync(join(stand.directory, 'proxy/control.sock'), join(stand.directory, 'proxy.sock'))
  await upgrade(stand, '2.0.0')
  expect((await load.stop()).failures).toEqual([])
  await expect.poll(() => isAlive(supervisor)).toBe(false)
})

test('an older data plane that serves next to the one in use ends, and its workers follow the next', async () => {
  const [before, now] = [await app('before'), await app('now')]
  const stand = await start(tableOf([before.spec]))
  const { port } = stand
  const load = new Load(
    http1(() => port),
    10,
  )
  const older = await stand.processes()
  const socket = join(stand.directory, 'proxy/control.sock')
  const hidden = join(stand.directory, 'hidden.sock')
  renameSync(socket, hidden)
  stand.client.close()
  stand.client = await stand.connect(tableOf([]), { table: undefined })
  renameSync(hidden, join(stand.directory, 'proxy.sock'))
  expect(isAlive(older.supervisor)).toBe(true)
  await upgrade(stand, '2.0.0')
  await stand.client.applyTable(tableOf([now.spec]))
  await expect.poll(() => isAlive(older.supervisor)).toBe(false)
  for (let asked = 0; asked < 20; asked++) {
    const client = stand.raw(port).request('GET /x HTTP/1.1', `Host: ${HOST}`, 'Connection: close')
    expect(await client.end()).toContain('/x now')
  }
  expect((await load.stop()).failures).toEqual([])
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** The session of a connection; with TLS 1.3 it comes after the handshake. */
async function sessionOf(socket: TLSSocket): Promise<Buffer> {
  let session: Buffer | undefined
  socket.on('session', (given: Buffer) => (session = given))
  await waitFor(
    () => session !== undefined,
    () => 'waiting for a session',
  )
  return session!
}

async function resumes(port: number, session: Buffer): Promise<boolean> {
  const socket = await secureConnection(port, { session })
  const resumed = socket.isSessionReused()
  socket.destroy()
  return resumed
}
