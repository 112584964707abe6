// Measures what unauthenticated clients can do to the server: its memory and the response times of its API under floods of
// bodies without credentials.
import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { builtServer } from '../test/support/build.ts'
import { startServer, type TestServer } from '../test/support/server.ts'
import type { Attack } from './lib/attackers.ts'
import { ask } from './lib/asking.ts'
import { formatMib, median, percentile } from './lib/figures.ts'
import { residentBytes } from './lib/processes.ts'

/** Longer than such a body may be silent, including its grace period. */
const ATTACK_MS = 15_000
const ASK_EVERY_MS = 20
const WARM_UP = 50
const MIB = 1024 * 1024

const LOGIN = ['POST /api/v1/auth/login HTTP/1.1', 'Host: localhost']
const WEBHOOK = [
  'POST /hooks/gitprov HTTP/1.1',
  'Host: localhost',
  `X-Hook-Signature-256: sha256=${'0'.repeat(64)}`,
]

const ATTACKS: Record<string, Omit<Attack, 'port'>> = {
  nobody: { connections: 0, head: [], piece: '', repeats: false },
  '40 webhooks of 25 MiB': {
    connections: 40,
    head: [...WEBHOOK, `Content-Length: ${25 * MIB}`],
    piece: 'x'.repeat(64 * 1024),
    repeats: true,
  },
  '600 sign-ins of 2 MiB': {
    connections: 600,
    head: [...LOGIN, `Content-Length: ${2 * MIB}`],
    piece: `{${'"k":0,'.repeat(10_000)}`,
    repeats: true,
  },
  '600 webhooks byte by byte': {
    connections: 600,
    head: [...WEBHOOK, 'Transfer-Encoding: chunked'],
    piece: '1\r\nx\r\n'.repeat(10_000),
    repeats: true,
  },
  '600 bodies that stop': {
    connections: 600,
    head: [...WEBHOOK, `Content-Length: ${MIB}`],
    piece: 'x',
    repeats: false,
  },
  '6000 connections': { connections: 6_000, head: [], piece: '', repeats: false },
}

await builtServer()
for (const [name, attack] of Object.entries(ATTACKS)) {
  const server = await startServer({ flags: ['--webhook-secret', 'a secret of webhooks'] })
  try {
    await measure(server, name, attack)
  } catch (error) {
    console.log(server.logs)
    throw error
  } finally {
    await server.stop()
  }
}

async function measure(server: TestServer, name: string, attack: Omit<Attack, 'port'>): Promise<void> {
  const agent = new Agent({ keepAlive: true })
  for (let warm = 0; warm < WARM_UP; warm++) await ask(server, '/info', agent)
  const before = residentBytes(server.pid)
  const workerData = { ...attack, port: Number(new URL(server.url).port) }
  const attackers = new Worker(new URL('lib/attackers.ts', import.meta.url), { workerData })
  let peak = before
  const times: number[] = []
  const began = performance.now()
  while (performance.now() - began < ATTACK_MS) {
    times.push(await ask(server, '/info', agent))
    peak = Math.max(peak, residentBytes(server.pid))
    await delay(ASK_EVERY_MS)
  }
  await attackers.terminate()
  agent.destroy()
  console.log(
    `${name.padEnd(27)} GET /info median ${median(times).toFixed(1)} ms, p99 ${percentile(times, 0.99).toFixed(1)} ms; ` +
      `memory ${formatMib(before)} before, ${formatMib(peak - before)} more at most`,
  )
}
