// Measures how long a lost server takes to come back from one file: ten services, two databases and a disk, with nothing left
// in the engine; and how long the same takes in the engine by hand.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { Client } from 'pg'
import { tarOf } from '../test/engine/engine-support.ts'
import { fetchFrom } from '../test/engine/live.ts'
import { sweepEngine } from '../test/stand/engine.ts'
import { startStand } from '../test/stand/index.ts'
import { builtServer } from '../test/support/build.ts'
import { startServer, type TestServer } from '../test/support/server.ts'
import { formatMib } from './lib/figures.ts'

const WEB_SERVICES = 9
const DATABASES = 2
const DATABASE_MIB = Number(process.env.BENCH_DATABASE_MIB ?? 100)
const DISK_MIB = Number(process.env.BENCH_DISK_MIB ?? 1_024)
const MIB = 1_024 * 1_024
const ROW_BYTES = 1_024
const POLL_MS = 100
const PASSWORD = 'by-hand'
/** Half of the disk does not compress, as photos do; the other half does, as texts do. */
const FILL = `cd /data && i=0 && while [ $i -lt ${DISK_MIB / 16} ]; do
  dd if=/dev/urandom of=random-$i bs=1M count=8 2>/dev/null
  yes "line $i of a text that repeats" | dd of=text-$i bs=1M count=8 iflag=fullblock 2>/dev/null
  i=$((i + 1)); done; sync`
const DOCKERFILE =
  'FROM busybox:1\nCOPY index.html /www/index.html\nCMD ["sh", "-c", "exec httpd -f -p $PORT -h /www"]\n'
const execute = promisify(execFile)

const entry = await builtServer()
const stand = await startStand()
process.env.DEPLOYER_TEST_DOCKER_HOST = stand.dockerHost
const folder = mkdtempSync(join(tmpdir(), 'bench-restore-'))
const dataDirectory = join(folder, 'data')
const file = join(folder, 'backup.tar.gz')
let server = await startServer({ engine: true, dataDirectory })
let serverId = ''
try {
  const services = await createAll()
  await backUpServer()
  const size = statSync(file).size
  const byHand = await restoreByHand(services)
  serverId = (JSON.parse(await deployer('backup', 'verify', file, '--json')) as { server_id: string })
    .server_id
  await loseEverything(services)
  const ours = await restore()
  const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`
  console.log(
    `a server with ${WEB_SERVICES + 1} services, ${DATABASES} databases of ${DATABASE_MIB} MiB and a disk of ${DISK_MIB} MiB is back ${seconds(ours.whole)} after it was lost: ${seconds(ours.unpacked)} until its file (${formatMib(size)}) is unpacked, ${seconds(ours.started - ours.unpacked)} until it answers, ${seconds(ours.whole - ours.started)} until everything runs`,
  )
  console.log(
    `  the same in the engine by hand, one after another: ${seconds(byHand.builds + byHand.databases + byHand.disk)} (builds and starts ${seconds(byHand.builds)}, databases ${seconds(byHand.databases)}, disk ${seconds(byHand.disk)}; ratio ${((ours.whole - ours.started) / (byHand.builds + byHand.databases + byHand.disk)).toFixed(2)})`,
  )
} finally {
  await server.stop()
  if (serverId !== '') await sweepEngine(serverId)
  await stand.stop()
  rmSync(folder, { recursive: true, force: true })
}

async function docker(...words: string[]): Promise<string> {
  return (await execute('docker', ['-H', stand.dockerHost, ...words])).stdout.trim()
}

async function deployer(...words: string[]): Promise<string> {
  const env = { ...process.env, DEPLOYER_DATA_DIR: dataDirectory }
  return (await execute(process.execPath, [entry, ...words], { env })).stdout
}

/** Creates what will be lost; returns the ids of the services. */
async function createAll(): Promise<string[]> {
  while ((await server.api('GET', '/info')).body.runtime_version === null) await delay(POLL_MS)
  await Promise.all(Array.from({ length: DATABASES }, (_, at) => filledDatabase(`db${at}`)))
  const ids: string[] = []
  for (let at = 0; at < WEB_SERVICES; at++) {
    const name = `web${at}`
    ids.push((await server.api('POST', '/services', { name })).body.id)
    const archive = gzipSync(await buffer(tarOf({ Dockerfile: DOCKERFILE, 'index.html': name })))
    await server.api('POST', `/services/${name}/deploys/upload`, archive, {
      headers: { 'content-type': 'application/gzip' },
    })
  }
  const worker = await server.api('POST', '/services', {
    name: 'files',
    type: 'background_worker',
    image: 'busybox:1',
    disk_mount_path: '/data',
    start_command: 'exec sleep 100000',
  })
  ids.push(worker.body.id)
  await untilAllRun(server)
  const [container] = (
    await docker('ps', '-q', '--filter', `label=deployer.service=${worker.body.id}`)
  ).split('\n')
  await docker('exec', container!, 'sh', '-c', FILL)
  return ids
}

async function filledDatabase(name: string): Promise<void> {
  const { id } = (await server.api('POST', '/datastores', { kind: 'relational', name })).body
  const read = async () => (await server.api('GET', `/datastores/${id}`)).body
  while ((await read()).status !== 'available') await delay(POLL_MS)
  const client = new Client({ connectionString: (await read()).external_url })
  await client.connect()
  await client.query(
    `CREATE TABLE rows AS SELECT i, repeat(md5(i::text), ${ROW_BYTES / 32}) AS t FROM generate_series(1, ${(DATABASE_MIB * MIB) / ROW_BYTES}) i`,
  )
  await client.end()
}

async function untilAllRun(server: TestServer): Promise<void> {
  for (;;) {
    const services = (await server.api('GET', '/services')).body as { state: string; name: string }[]
    const failed = services.find(({ state }) => state === 'failed')
    if (failed) throw new Error(`${failed.name} failed`)
    if (services.every(({ state }) => state === 'running')) return
    await delay(POLL_MS)
  }
}

async function backUpServer(): Promise<void> {
  const { body } = await server.api('POST', '/server/backups', { disks: true })
  for (;;) {
    const backup = (await server.api('GET', '/server/backups')).body.find(
      ({ id }: { id: string }) => id === body.id,
    )
    if (backup.status === 'failed' || backup.error) throw new Error(backup.error)
    if (backup.status === 'succeeded') break
    await delay(POLL_MS)
  }
  copyFileSync(join(dataDirectory, 'backups', 'server', body.id), file)
}

/** Builds, fills and starts the same by hand; milliseconds of each part. */
async function restoreByHand(services: string[]) {
  const containers: string[] = []
  const context = join(folder, 'context')
  mkdirSync(context)
  writeFileSync(join(context, 'Dockerfile'), DOCKERFILE)
  let began = performance.now()
  for (let at = 0; at < WEB_SERVICES; at++) {
    writeFileSync(join(context, 'index.html'), `by hand ${at}`)
    const image = await docker('build', '-q', '--no-cache', context)
    containers.push(await docker('run', '-d', '-e', 'PORT=10000', image))
  }
  const builds = performance.now() - began
  const stores = (await server.api('GET', '/datastores')).body as {
    id: string
    username: string
    database: string
  }[]
  const dumps = stores.map(({ id }) => join(folder, id))
  for (const [at, { id, username, database }] of stores.entries())
    await piped(['exec', id, 'pg_dump', '-Fc', '-U', username, database], { to: dumps[at]! })
  began = performance.now()
  for (const dump of dumps) {
    const id = await docker('run', '-d', '-e', `POSTGRES_PASSWORD=${PASSWORD}`, 'postgres:18')
    containers.push(id)
    // Not by the socket: the server that the image first starts for its scripts listens on that one alone.
    while (!(await succeeds(docker('exec', id, 'pg_isready', '-h', '127.0.0.1')))) await delay(POLL_MS)
    await piped(['exec', '-i', id, 'pg_restore', '--no-owner', '-U', 'postgres', '-d', 'postgres'], {
      from: dump,
    })
  }
  const databases = performance.now() - began
  const volume = await docker('volume', 'create')
  const place = (disk: string) => ['-v', `${disk}:/disk`, '-v', `${folder}:/copy`, 'busybox:1', 'tar']
  await docker(
    'run',
    '--rm',
    ...place(`deployer-${services.at(-1)}`),
    '-czf',
    '/copy/disk.tar.gz',
    '-C',
    '/disk',
    '.',
  )
  began = performance.now()
  await docker('run', '--rm', ...place(volume), '-xzf', '/copy/disk.tar.gz', '-C', '/disk')
  const disk = performance.now() - began
  await docker('rm', '-fv', ...containers)
  await docker('volume', 'rm', volume)
  return { builds, databases, disk }
}

async function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  )
}

/** Runs the engine's client with a file as its input or output. */
async function piped(words: string[], { from, to }: { from?: string; to?: string }): Promise<void> {
  const descriptor = openSync((from ?? to)!, from === undefined ? 'w' : 'r')
  try {
    const input = from === undefined ? 'ignore' : descriptor
    const output = to === undefined ? 'ignore' : descriptor
    const child = spawn('docker', ['-H', stand.dockerHost, ...words], { stdio: [input, output, 'inherit'] })
    const [code] = await once(child, 'close')
    if (code !== 0) throw new Error(`docker ${words[0]} exited with code ${code}`)
  } finally {
    closeSync(descriptor)
  }
}

/** Removes the server, its data directory, and everything of it in the engine, images and build cache too. */
async function loseEverything(services: string[]): Promise<void> {
  await server.stop()
  await sweepEngine(serverId)
  const tags = (await docker('images', '--format', '{{.Repository}}:{{.Tag}}')).split('\n')
  for (const tag of tags.filter((tag) => services.some((id) => tag.includes(id))))
    await docker('rmi', '-f', tag)
  rmSync(dataDirectory, { recursive: true })
}

/** Restores the server from the file and waits until everything runs; milliseconds since the beginning. */
async function restore() {
  const began = performance.now()
  await deployer('restore', file)
  const unpacked = performance.now() - began
  server = await startServer({ engine: true, dataDirectory })
  const started = performance.now() - began
  await deployer('restore', '--confirm')
  for (;;) {
    const { status, steps } = (await server.api('GET', '/server/restore')).body
    const failed = steps.find((step: { status: string }) => step.status === 'failed')
    if (failed) throw new Error(`${failed.name}: ${failed.error}`)
    if (status === 'done') break
    await delay(POLL_MS)
  }
  await untilAllRun(server)
  for (let at = 0; at < WEB_SERVICES; at++) {
    const { text } = await fetchFrom(server, `web${at}.localhost`)
    if (text !== `web${at}`) throw new Error(`web${at} answers ${text}`)
  }
  return { unpacked, started, whole: performance.now() - began }
}
