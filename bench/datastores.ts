// How much later a datastore is available than the same image run by hand answers its first query; how a backup compares
// with pg_dump by hand.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { createClient } from '@redis/client'
import { Client } from 'pg'
import type { TestServer } from '../test/support/server.ts'
import { median, withServer } from './lib/stand.ts'

/** Of text that compresses about as rows of an application do. */
const BACKUP_MIB = Number(process.env.BENCH_BACKUP_MIB ?? 1_024)
const ROW_BYTES = 1_024
const MIB = 1_024 * 1_024
const SAMPLE_MS = 50

const ROUNDS = 5
const PASSWORD = 'by-hand'
const run = promisify(execFile)

/** A kind, its image by hand with what it takes to have a password, and the first question. */
const KINDS = [
  {
    kind: 'relational',
    aimSeconds: 5,
    port: 5432,
    run: ['-e', `POSTGRES_PASSWORD=${PASSWORD}`, 'postgres:18'],
    ask: async (port: number) => {
      const client = new Client({ host: '127.0.0.1', port, user: 'postgres', password: PASSWORD })
      client.on('error', () => {})
      try {
        await client.connect()
        await client.query('SELECT 1')
      } finally {
        client.end().catch(() => {})
      }
    },
  },
  {
    kind: 'keyvalue',
    aimSeconds: 2,
    port: 6379,
    run: [
      'valkey/valkey:9',
      'valkey-server',
      '--requirepass',
      PASSWORD,
      '--appendonly',
      'yes',
      '--protected-mode',
      'no',
    ],
    ask: async (port: number) => {
      const socket = { host: '127.0.0.1', port, reconnectStrategy: false } as const
      const client = createClient({ password: PASSWORD, socket })
      client.on('error', () => {})
      try {
        await client.connect()
        await client.ping()
      } finally {
        client.destroy()
      }
    },
  },
]

await withServer(async (server, dockerHost) => {
  const docker = async (...args: string[]) => (await run('docker', ['-H', dockerHost, ...args])).stdout.trim()
  for (const { kind, aimSeconds, port, run: image, ask } of KINDS) {
    const ours: number[] = []
    const byHand: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const began = performance.now()
      const { body } = await server.api('POST', '/datastores', { kind, name: `bench-${kind}-${round}` })
      while ((await server.api('GET', `/datastores/${body.id}`)).body.status !== 'available') await delay(5)
      ours.push(performance.now() - began)
      await server.api('DELETE', `/datastores/${body.id}`)

      const start = performance.now()
      const id = await docker('run', '-d', '-p', `127.0.0.1::${port}`, ...image)
      const published = Number((await docker('port', id, String(port))).split(':').at(-1))
      await untilDone(() => ask(published))
      byHand.push(performance.now() - start)
      await docker('rm', '-fv', id)
    }
    const ratio = (median(ours) / median(byHand)).toFixed(2)
    console.log(
      `${kind.padEnd(10)} creating to available ${median(ours).toFixed(0)} ms, docker run to the first answer ${median(byHand).toFixed(0)} ms (medians of ${ROUNDS}; ratio ${ratio}; aim: under ${aimSeconds} s)`,
    )
  }
  await measureBackup(server, docker, dockerHost)
})

async function measureBackup(
  server: TestServer,
  docker: (...args: string[]) => Promise<string>,
  dockerHost: string,
): Promise<void> {
  const input = { kind: 'relational', name: 'bench-backup', memory_limit_mb: 2_048 }
  const { body } = await server.api('POST', '/datastores', input)
  const isAvailable = async () =>
    (await server.api('GET', `/datastores/${body.id}`)).body.status === 'available'
  while (!(await isAvailable())) await delay(50)
  const {
    external_url: url,
    username,
    password,
    database,
  } = (await server.api('GET', `/datastores/${body.id}`)).body
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(
    `CREATE TABLE rows AS SELECT i, repeat(md5(i::text), ${ROW_BYTES / 64}) || repeat(md5((i / 100)::text), ${ROW_BYTES / 64}) AS t
     FROM generate_series(1, ${(BACKUP_MIB * MIB) / ROW_BYTES}) i`,
  )
  await client.end()

  const before = residentMib(server.pid)
  let most = before
  const sampling = setInterval(() => (most = Math.max(most, residentMib(server.pid))), SAMPLE_MS)
  const began = performance.now()
  const backup = (await server.api('POST', `/datastores/${body.id}/backups`)).body
  const path = `/datastores/${body.id}/backups/${backup.id}`
  while ((await server.api('GET', path)).body.status === 'running') await delay(SAMPLE_MS)
  const ours = performance.now() - began
  clearInterval(sampling)
  const { size_bytes: size, status } = (await server.api('GET', path)).body

  const network = await docker(
    'inspect',
    '-f',
    '{{range $name, $_ := .NetworkSettings.Networks}}{{$name}}{{end}}',
    body.id,
  )
  const address = await docker(
    'inspect',
    '-f',
    '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}',
    body.id,
  )
  const place = ['--network', network, '-e', `PGPASSWORD=${password}`, '--cpus', '1']
  const dump = ['--entrypoint', 'pg_dump', 'postgres:18', '-Fc', '-h', address, '-U', username, database]
  const start = performance.now()
  await toFile(['-H', dockerHost, 'run', '--rm', ...place, ...dump])
  const byHand = performance.now() - start
  console.log(
    `backup     of ${BACKUP_MIB} MiB (${(size / MIB).toFixed(0)} MiB, ${status}) ${(ours / 1_000).toFixed(1)} s, pg_dump by hand ${(byHand / 1_000).toFixed(1)} s (ratio ${(ours / byHand).toFixed(2)}; aim: 1.2), the server grew by ${(most - before).toFixed(0)} MiB (aim: 32)`,
  )
}

async function untilDone(work: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await work()
    } catch {
      await delay(5)
    }
  }
}

/** Runs the engine's client with its output in a file, as a person would. */
async function toFile(args: string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-dump-'))
  const file = openSync(join(folder, 'dump'), 'w')
  try {
    const [code] = await once(spawn('docker', args, { stdio: ['ignore', file, 'inherit'] }), 'close')
    if (code !== 0) throw new Error(`docker ended with code ${code}`)
  } finally {
    closeSync(file)
    rmSync(folder, { recursive: true })
  }
}

/** The resident memory of a process (proc(5), `VmRSS`). */
function residentMib(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1_024
}
