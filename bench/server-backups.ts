// Measures a backup of the server while it answers, beside tar, and how long a backup takes to be read.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startServer } from '../test/support/server.ts'
import { ask } from './lib/asking.ts'
import { formatMib, median, percentile } from './lib/figures.ts'
import { residentBytes } from '../test/support/processes.ts'

const MIB = 1024 * 1024
const ARCHIVES = 24
const ARCHIVE_MIB = 64
const LOGS = 512
const SERVICES = 50
const ROUNDS = 3
const SAMPLE_MS = 20

const place = mkdtempSync(join(tmpdir(), 'bench-server-backups-'))
const server = await startServer({ dataDirectory: join(place, 'data') })
try {
  await fillDataDirectory()
  for (let number = 0; number < SERVICES; number++)
    await server.api('POST', '/services', { name: `s${number}` })
  const usual = percentile(await latencies(() => delay(3_000)), 0.99)
  const rounds: { own: number; other: number; p99: number; grown: number; bytes: number; verify: number }[] =
    []
  for (let round = 0; round < ROUNDS; round++) {
    const other = await timed(tar)
    const before = residentBytes(server.pid)
    let peak = before
    const watch = setInterval(() => (peak = Math.max(peak, residentBytes(server.pid))), SAMPLE_MS)
    let id = ''
    let own = 0
    const slow = await latencies(async () => {
      own = await timed(async () => void (id = await backUp()))
    })
    clearInterval(watch)
    const verify = await timed(() => server.api('POST', `/server/backups/${id}/verify`))
    const bytes = statSync(join(server.dataDirectory, 'backups', 'server', id)).size
    rounds.push({ own, other, p99: percentile(slow, 0.99), grown: peak - before, bytes, verify })
  }
  const of = (key: keyof (typeof rounds)[number]): number => median(rounds.map((round) => round[key]))
  console.log(
    `a backup of ${ARCHIVES * ARCHIVE_MIB} MiB of archives and ${LOGS} MiB of logs: ${of('own').toFixed(1)} s, tar -cz by hand ${of('other').toFixed(1)} s (ratio ${(of('own') / of('other')).toFixed(2)}; aim: at most 1.2), ${formatMib(of('bytes'))}`,
  )
  console.log(
    `  more resident memory: ${formatMib(of('grown'))} (aim: at most 32 MiB); verified in ${of('verify').toFixed(1)} s`,
  )
  console.log(
    `  GET /services meanwhile: p99 ${of('p99').toFixed(1)} ms, usually ${usual.toFixed(1)} ms (ratio ${(of('p99') / usual).toFixed(2)}; aim: at most 2)`,
  )
} finally {
  await server.stop()
  rmSync(place, { recursive: true, force: true })
}

async function fillDataDirectory(): Promise<void> {
  const random = randomBytes(MIB)
  const line = Buffer.from(
    `${JSON.stringify({ ts: '2026-01-01T00:00:00.000Z', stream: 'stdout', line: 'GET /a 200 in 12 ms' })}\n`,
  )
  for (let number = 0; number < ARCHIVES; number++) {
    const name = `dep-${randomBytes(10).toString('hex')}.tar.gz`
    const file = await open(join(server.dataDirectory, 'archives', name), 'w')
    for (let mib = 0; mib < ARCHIVE_MIB; mib++) {
      random.writeUInt32LE(mib + number * ARCHIVE_MIB)
      await file.writeFile(random)
    }
    await file.close()
  }
  const text = Buffer.alloc(MIB, line)
  for (let number = 0; number < LOGS; number++) {
    const file = await open(
      join(server.dataDirectory, 'logs', `dep-${randomBytes(10).toString('hex')}.ndjson`),
      'w',
    )
    await file.writeFile(text)
    await file.close()
  }
}

async function backUp(): Promise<string> {
  const { body } = await server.api('POST', '/server/backups', { datastores: false })
  for (;;) {
    const { status } = (await server.api('GET', `/server/backups/${body.id}`)).body as { status: string }
    if (status !== 'running') return body.id as string
    await delay(SAMPLE_MS * 5)
  }
}

async function tar(): Promise<void> {
  const parts = ['archives', 'logs', 'sites', 'certificates', 'ssh', 'secret.key', 'deployer.db']
  const target = join(place, 'by-hand.tar.gz')
  const child = spawn('tar', ['-czf', target, '-C', server.dataDirectory, ...parts], { stdio: 'inherit' })
  const [code] = (await once(child, 'close')) as [number]
  if (code > 1) throw new Error(`tar ended with ${code}`)
  rmSync(target)
}

/** The times of GET /services, one after another, while `work` goes on; in ms. */
async function latencies(work: () => Promise<unknown>): Promise<number[]> {
  const agent = new Agent({ keepAlive: true })
  const times: number[] = []
  let isDone = false
  const done = work().finally(() => (isDone = true))
  while (!isDone) {
    times.push(await ask(server, '/services', agent))
    await delay(SAMPLE_MS)
  }
  agent.destroy()
  await done
  return times
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return (performance.now() - began) / 1_000
}
