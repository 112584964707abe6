import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { mkdtemp, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { docker, endOf, fetchFrom } from './live.ts'

const run = promisify(execFile)
const MIB = 1024 ** 2
/** The data directory's own file system, its floor, and what fills it up to below that. */
const DISK_MIB = 320
const FLOOR_MIB = 220
const BALLAST_MIB = 128

let disk: string
let server: TestServer

beforeAll(async () => {
  disk = await mkdtemp(join(tmpdir(), 'deployer-disk-'))
  await run('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MIB}m`, 'tmpfs', disk])
  const usual = process.env.TMPDIR
  // Its data directory is made there.
  process.env.TMPDIR = disk
  try {
    server = await startServer({ engine: true, flags: ['--disk-floor', `${FLOOR_MIB}MiB`] })
  } finally {
    if (usual === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = usual
  }
})
afterAll(async () => {
  await server?.stop()
  await run('umount', [disk])
  rmSync(disk, { recursive: true, force: true })
})

/** Uploads a program, with a file of a MiB that no other image has, and returns the id of its deploy. */
async function upload(name: string, command: string): Promise<string> {
  const tar = pack()
  tar.entry(
    { name: 'Dockerfile' },
    `FROM busybox:1\nRUN head -c ${MIB} /dev/urandom > /own\nCMD ${JSON.stringify(['sh', '-c', command])}\n`,
  )
  tar.entry({ name: 'index.html' }, name)
  tar.finalize()
  const archive = gzipSync(await buffer(tar))
  const { status, body } = await server.api('POST', `/services/${name}/deploys/upload?clear_cache`, archive)
  expect({ status, body }).toMatchObject({ status: 202 })
  return body.id as string
}

interface Sized {
  kind: string
  id: string
  name: string
  bytes: number
}

async function cleanup(body: object): Promise<{ removed: Sized[]; freed_bytes: number }> {
  const answer = await server.api('POST', '/server/cleanup', body)
  expect({ status: answer.status, body: answer.body }).toMatchObject({ status: 200 })
  return answer.body
}

const SERVE = 'echo ok > index.html; exec httpd -f -p $PORT'

test('images that nothing needs are told and then removed, and what is live stays', async () => {
  await server.api('POST', '/services', { name: 'web', type: 'web_service', disk_mount_path: '/kept' })
  const live = await upload('web', SERVE)
  expect(await endOf(server, live)).toMatchObject({ status: 'live' })
  const gone = (await server.api('POST', '/services', { name: 'gone', type: 'web_service' })).body
    .id as string
  const old = await upload('gone', SERVE)
  expect(await endOf(server, old)).toMatchObject({ status: 'live' })

  const { body: use } = await server.api('GET', '/server/disk')
  const web = (await server.api('GET', '/services/web')).body.id as string
  const of = (kind: string) => use.kinds.find((each: { kind: string }) => each.kind === kind)
  expect(of('images').bytes).toBeGreaterThanOrEqual(2 * MIB)
  expect(of('archives').items).toBe(2)
  expect(of('disks')).toMatchObject({ items: 1 })
  expect(of('build_cache').bytes).toBeGreaterThanOrEqual(0)
  expect(use.filesystems.engine).not.toBeNull()
  expect(use.filesystem).toEqual({
    total_bytes: DISK_MIB * MIB,
    free_bytes: use.filesystems.data.free_bytes,
  })
  expect(use.top).toContainEqual({ kind: 'images', id: web, name: 'web', bytes: expect.any(Number) })

  await server.api('DELETE', '/services/gone')
  await waitFor(async () => (await server.api('GET', '/services/gone')).status === 404, 'its removal')
  const tagOf = (service: string, deploy: string) =>
    docker('images', '--quiet', `deployer-*/${service}:${deploy}`)
  const plan = await cleanup({ dry_run: true, kinds: ['images'] })
  expect(plan.removed).toContainEqual({
    kind: 'images',
    id: old,
    name: gone,
    bytes: expect.any(Number),
  })
  expect(plan.freed_bytes).toBeGreaterThanOrEqual(MIB)
  expect(await tagOf(gone, old)).not.toBe('')
  expect(await cleanup({ kinds: ['images'] })).toEqual(plan)
  expect(await tagOf(gone, old)).toBe('')
  expect(await tagOf(web, live)).not.toBe('')
  expect(await fetchFrom(server, 'web.localhost')).toMatchObject({ status: 200 })
})

test('builds wait for room while restarts go live, and start by themselves', async () => {
  const ballast = join(disk, 'ballast')
  writeFileSync(ballast, Buffer.alloc(BALLAST_MIB * MIB))
  const waits = await upload('web', SERVE)
  const deploy = async () => (await server.api('GET', `/deploys/${waits}`)).body
  const { waiting, status } = await waitFor(async () => {
    const found = await deploy()
    return found.waiting && found
  }, 'the deploy to wait')
  expect({ waiting, status }).toMatchObject({
    status: 'queued',
    waiting: { for: 'disk', floor_bytes: FLOOR_MIB * MIB },
  })
  expect(waiting.free_bytes).toBeLessThan(FLOOR_MIB * MIB)

  const restart = (await server.api('POST', '/services/web/restart')).body
  expect(await endOf(server, restart.id)).toMatchObject({ status: 'live' })
  expect(await fetchFrom(server, 'web.localhost')).toMatchObject({ status: 200 })
  expect(await deploy()).toMatchObject({ status: 'queued', waiting: { since: waiting.since } })
  const log = await server.api('GET', `/deploys/${waits}/logs`)
  expect(log.body.match(/waiting for room on the disk/g)).toHaveLength(1)

  rmSync(ballast)
  expect(await endOf(server, waits)).toMatchObject({ status: 'live' })
  expect(await deploy()).toMatchObject({ waiting: null })
})

test('a full disk is what an upload is answered with, and it can be repeated once there is room', async () => {
  await server.api('POST', '/services', { name: 'page', type: 'static_site' })
  const ballast = join(disk, 'ballast')
  const { bavail, bsize } = await statfs(disk)
  // The file system itself needs some blocks for it; what is left is less than the upload takes.
  await run('fallocate', ['--length', String(bavail * bsize - MIB / 2), ballast])
  const tar = pack()
  tar.entry({ name: 'index.html' }, randomBytes(2 * MIB))
  tar.finalize()
  const archive = gzipSync(await buffer(tar))
  const sent = () => server.api('POST', '/services/page/deploys/upload', archive)
  expect(await sent()).toMatchObject({
    status: 500,
    body: { error: { code: 'io_error', message: expect.stringMatching(/disk .* is full: free some space/) } },
  })
  rmSync(ballast)
  expect(await sent()).toMatchObject({ status: 202 })
})
