// Measures how much later a datastore is available than the same image, run by hand, answers its first query; how a backup
// compares to pg_dump by hand; and how long its copy to a bucket takes.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { createClient } from '@redis/client'
import { Client } from 'pg'
import { startBucket } from '../test/stand/bucket.ts'
import type { TestServer } from '../test/support/server.ts'
import { median, withServer } from './lib/stand.ts'

/** Size of a text that compresses about as well as an application's rows. */
const BACKUP_MIB = Number(process.env.BENCH_BACKUP_MIB ?? 1_024)
const ROW_BYTES = 1_024
const MIB = 1_024 * 1_024
const SAMPLE_MS = 50
/** Rows like an application's, and rows that do not compress. */
const COMPRESSIBLE = `SELECT i, repeat(md5(i::text), ${ROW_BYTES / 64}) || repeat(md5((i / 100)::text), ${ROW_BYTES / 64}) AS t`
const RANDOM = `SELECT i, (SELECT string_agg(sha512(int8send(i * 100 + part)), '') FROM generate_series(1, ${ROW_BYTES / 64}) part) AS t`

const ROUNDS = 5
/** Alternating with dumps by hand. */
const BACKUP_ROUNDS = 3
const PASSWORD = 'by-hand'
const run = promisify(execFile)

/** A kind, its image run by hand with a password, and the first query. */
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
const bucket = await startBucket()
try {
  await withServer(measureCopy, bucket.flags)
} finally {
  await bucket.stop()
}

async function measureBackup(
  server: TestServer,
  docker: (...args: string[]) => Promise<string>,
  dockerHost: string,
): Promise<void> {
  const { id, username, password, database } = await filled(server, 'bench-backup', COMPRESSIBLE)
  const network = await docker(
    'inspect',
    '-f',
    '{{range $name, $_ := .NetworkSettings.Networks}}{{$name}}{{end}}',
    id,
  )
  const address = await docker(
    'inspect',
    '-f',
    '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}',
    id,
  )
  const place = ['--network', network, '-e', `PGPASSWORD=${password}`, '--cpus', '1']
  const dump = ['--entrypoint', 'pg_dump', 'postgres:18', '-Fc', '-h', address, '-U', username, database]
  const ours: number[] = []
  const byHand: number[] = []
  let peak = 0
  let size = 0
  for (let round = 0; round < BACKUP_ROUNDS; round++) {
    const { ms, grownMib, backup } = await backUp(server, id)
    ours.push(ms)
    peak = Math.max(peak, grownMib)
    size = backup.size_bytes
    const start = performance.now()
    await toFile(['-H', dockerHost, 'run', '--rm', ...place, ...dump])
    byHand.push(performance.now() - start)
  }
  const ratio = (median(ours) / median(byHand)).toFixed(2)
  console.log(
    `backup     of ${BACKUP_MIB} MiB (${(size / MIB).toFixed(0)} MiB) ${(median(ours) / 1_000).toFixed(1)} s, pg_dump by hand ${(median(byHand) / 1_000).toFixed(1)} s (medians of ${BACKUP_ROUNDS}; ratio ${ratio}; aim: 1.2), the server grew by ${peak.toFixed(0)} MiB (aim: 32)`,
  )
}

/** Creates a backup whose data does not compress, and copies it to a bucket. */
async function measureCopy(server: TestServer): Promise<void> {
  const { id } = await filled(server, 'bench-copy', RANDOM)
  const { ms, wholeMs, grownMib, backup } = await backUp(server, id)
  console.log(
    `copy       of a backup of ${(backup.size_bytes / MIB).toFixed(0)} MiB to a bucket (${backup.stored.join(', ')}) ${((ms - wholeMs) / 1_000).toFixed(1)} s after the ${(wholeMs / 1_000).toFixed(1)} s that it took to create, the server grew by ${grownMib.toFixed(0)} MiB (aim: 32)`,
  )
}

/** Creates a relational datastore with this many MiB of rows. */
async function filled(server: TestServer, name: string, rows: string) {
  const input = { kind: 'relational', name, memory_limit_mb: 2_048 }
  const { id } = (await server.api('POST', '/datastores', input)).body
  const read = async () => (await server.api('GET', `/datastores/${id}`)).body
  while ((await read()).status !== 'available') await delay(50)
  const datastore = await read()
  const client = new Client({ connectionString: datastore.external_url })
  await client.connect()
  await client.query(
    `CREATE TABLE rows AS ${rows} FROM generate_series(1::bigint, ${(BACKUP_MIB * MIB) / ROW_BYTES}) i`,
  )
  // Otherwise the first reader of the rows would also write visibility information (manual, "Routine Vacuuming").
  await client.query('VACUUM ANALYZE rows')
  await client.query('CHECKPOINT')
  await client.end()
  return datastore as { id: string; username: string; password: string; database: string }
}

/** Creates a backup; returns how long it took, how long until its file was complete, and how much the server grew. */
async function backUp(server: TestServer, id: string) {
  const before = residentMib(server.pid)
  let peak = before
  const sampling = setInterval(() => (peak = Math.max(peak, residentMib(server.pid))), SAMPLE_MS)
  const began = performance.now()
  const begun = (await server.api('POST', `/datastores/${id}/backups`)).body
  const read = async () => (await server.api('GET', `/datastores/${id}/backups/${begun.id}`)).body
  while ((await read()).sha256 === null) await delay(SAMPLE_MS)
  const wholeMs = performance.now() - began
  while ((await read()).status === 'running') await delay(SAMPLE_MS)
  const ms = performance.now() - began
  clearInterval(sampling)
  return { ms, wholeMs, grownMib: peak - before, backup: await read() }
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
    if (code !== 0) throw new Error(`docker exited with code ${code}`)
  } finally {
    closeSync(file)
    rmSync(folder, { recursive: true })
  }
}

/** Returns the resident memory of a process (proc(5), `VmRSS`). */
function residentMib(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1_024
}
