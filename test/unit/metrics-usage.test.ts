import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Connection } from '../../daemon/engine/connection.ts'
import { Usages } from '../../daemon/engine/usage.ts'
import type { Ledger } from '../../daemon/engine/ledger.ts'

/** No process has this number: its control group cannot be read from here, as in an engine's own virtual machine. */
const ELSEWHERE = 2 ** 30
const MIB = 1024 * 1024

let folder: string
let listener: Server
let usages: Usages
/** Whether it answers at all. */
let isSilent: boolean
/** What the engine answers about a container's usage. */
let stats: (response: ServerResponse, url: string) => void

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'deployer-usage-'))
  const socket = join(folder, 'engine.sock')
  listener = createServer((request, response) => {
    const url = request.url!
    if (isSilent) return
    const json = (value: unknown, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    if (url.startsWith('/version')) json({ Version: '29.0.0', ApiVersion: '1.51', MinAPIVersion: '1.40' })
    else if (url.includes('/containers/json')) json([{ Id: 'c1' }, { Id: 'unknown' }])
    else if (url.includes('/stats')) stats(response, url)
    else
      json({
        State: { Running: true, Pid: ELSEWHERE },
        HostConfig: { Memory: 64 * MIB, NanoCpus: 500_000_000 },
      })
  })
  await new Promise<void>((resolve) => listener.listen(socket, resolve))
  isSilent = false
  const things = [{ kind: 'container', name: 'one', engine_id: 'c1' }]
  const ledger = { list: () => things } as unknown as Ledger
  usages = new Usages(new Connection(`unix://${socket}`), 'server', ledger)
})
afterEach(() => {
  listener.closeAllConnections()
  listener.close()
  rmSync(folder, { recursive: true })
})

/** An engine that answers at all has done so long before. */
const HANG_MS = 10_000
const limits = { signal: new AbortController().signal, timeoutMs: HANG_MS }

/** As the engine's documentation has them; version 1 and 2 of control groups name the cache differently. */
const answer = (cache: Record<string, number>) => ({
  cpu_stats: { cpu_usage: { total_usage: 2_500_000_000 }, system_cpu_usage: 10 },
  memory_stats: { usage: 30 * MIB, stats: cache },
})

test.each([
  ['1', { total_inactive_file: 10 * MIB, inactive_file: 1 }],
  ['2', { inactive_file: 10 * MIB }],
])('the engine is asked once for what cannot be read (control groups version %s)', async (_, cache) => {
  const asked: string[] = []
  stats = (response, url) => {
    asked.push(url)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer(cache)))
  }
  const running = await usages.running(HANG_MS)
  expect(running).toEqual([{ id: 'c1', name: 'one' }])
  expect(await usages.read(running[0]!, limits)).toEqual({
    cpuSeconds: 2.5,
    memoryBytes: 20 * MIB,
    cpuLimit: 0.5,
    memoryLimitBytes: 64 * MIB,
  })
  expect(asked).toEqual([expect.stringMatching(/\/containers\/c1\/stats\?stream=false&one-shot=true$/)])
})

test.each([
  ['is gone', 404, { message: 'No such container: c1' }],
  ['is being removed', 409, { message: 'container c1 is not running' }],
  [
    'has ended, which some engines report with empty figures',
    200,
    { cpu_stats: { cpu_usage: {} }, memory_stats: {} },
  ],
])('a container that %s between the list and its figures has none', async (_, status, body) => {
  stats = (response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  const [running] = await usages.running(HANG_MS)
  expect(await usages.read(running!, limits)).toBeNull()
})

test('an engine that accepts requests but does not answer is not waited for, not even at first', async () => {
  isSilent = true
  await expect(usages.running(50)).rejects.toThrow('listing the running containers')
})

test('a container about which the engine says nothing in time is not waited for', async () => {
  stats = (response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer({})))
  const [running] = await usages.running(HANG_MS)
  // What does not change is known from then on, and only its figures are requested.
  expect(await usages.read(running!, limits)).not.toBeNull()
  stats = () => {}
  await expect(usages.read(running!, { ...limits, timeoutMs: 50 })).rejects.toThrow('measuring one')
})
