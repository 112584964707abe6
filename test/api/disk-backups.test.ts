import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { databaseOf } from '../support/database.ts'
import { startServer, type TestServer } from '../support/server.ts'

let server: TestServer
let id: string
beforeAll(async () => {
  server = await startServer()
  const created = await create('wiki', { disk_mount_path: '/data' })
  id = created.body.id
})
afterAll(() => server.stop())

function create(name: string, fields: object = {}) {
  return server.api('POST', '/services', { name, image: 'busybox:1', deploy: false, ...fields })
}

/** Records a backup as if it had been made. */
function record(backup: string, fields: { status: string; sha256: string | null }): void {
  const database = databaseOf(server.dataDirectory)
  database
    .prepare(
      `INSERT INTO backups (id, service_id, disk, status, trigger, size_bytes, sha256, created_at)
       VALUES (?, ?, 'data', ?, 'manual', 4, ?, 0)`,
    )
    .run(backup, id, fields.status, fields.sha256)
  database.close()
}

const refusal = (status: number, message: RegExp) => ({
  status,
  body: { error: { message: expect.stringMatching(message) } },
})

test('schedule and retention are settings of a service that take effect at once', async () => {
  const before = (await server.api('GET', '/services/wiki')).body
  expect(before).toMatchObject({
    disk_backup_schedule: null,
    disk_backup_retention: 7,
    disk_restore: null,
    disk_kept_volumes: [],
  })
  const patch = { disk_backup_schedule: '0 3 * * *', disk_backup_retention: 3 }
  const after = await server.api('PATCH', '/services/wiki', patch)
  expect(after).toMatchObject({ status: 200, body: patch })
  expect(after.body.settings_updated_at).toBe(before.settings_updated_at)
  await server.api('PATCH', '/services/wiki', { disk_backup_schedule: null })
  const site = { name: 'site', type: 'static_site', repo_url: 'https://git.example.com/a/b.git' }
  expect(await server.api('POST', '/services', { ...site, disk_backup_schedule: '0 3 * * *' })).toMatchObject(
    refusal(400, /^disk_backup_schedule: a static site has no disk/),
  )
})

test('what has no disk cannot be backed up, and what has one only by its name', async () => {
  await create('plain')
  expect(await server.api('POST', '/services/plain/disk/backups', {})).toMatchObject(
    refusal(409, /service plain has no disk: set disk_mount_path/),
  )
  expect(await server.api('POST', '/services/wiki/disk/backups', { disk: 'other' })).toMatchObject(
    refusal(404, /has no disk other: it has data/),
  )
})

test('a backup is of one of several disks, or of each of them', async () => {
  const disks = ['data', 'cache'].map((name) => ({ name, mount_path: `/${name}` }))
  await create('several', { disks })
  const ofCache = await server.api('POST', '/services/several/disk/backups', { disk: 'cache' })
  expect(ofCache).toMatchObject({ status: 202, body: { disk: 'cache', status: 'running' } })
  // All or none.
  expect(await server.api('POST', '/services/several/disk/backups')).toMatchObject(
    refusal(409, /the backup dbk-.* of the disk cache of service several is running/),
  )
  expect((await server.api('GET', '/services/several/disk/backups')).body).toHaveLength(1)
  await create('both', { disks })
  expect(await server.api('POST', '/services/both/disk/backups')).toMatchObject({
    status: 202,
    body: { disk: 'data' },
  })
  const made = (await server.api('GET', '/services/both/disk/backups')).body as { disk: string }[]
  expect(made.map(({ disk }) => disk)).toEqual(['cache', 'data'])
})

test('a second backup is refused, and a running one neither restored, downloaded nor deleted', async () => {
  const asked = await server.api('POST', '/services/wiki/disk/backups', { disk: 'data', suspend: true })
  expect(asked).toMatchObject({ status: 202, body: { status: 'running', consistent: true, stored: [] } })
  const path = `/services/wiki/disk/backups/${asked.body.id}`
  const isRunning = refusal(409, /is running/)
  expect(await server.api('POST', '/services/wiki/disk/backups')).toMatchObject(isRunning)
  expect(await server.api('POST', `${path}/restore`, {})).toMatchObject(isRunning)
  expect(await server.api('GET', `${path}/download`)).toMatchObject(isRunning)
  expect(await server.api('DELETE', path)).toMatchObject(isRunning)
  await server.kill('SIGKILL')
  await server.restart()
  expect((await server.api('GET', path)).body).toMatchObject({
    status: 'failed',
    error: 'the server stopped while the backup was being made: make another one',
  })
  expect(await server.api('POST', `${path}/restore`, {})).toMatchObject(refusal(409, /is failed/))
  expect((await server.api('DELETE', path)).status).toBe(204)
})

test('a backup belongs to one service, and is restored only where there is a disk that is not busy', async () => {
  const backup = 'dbk-00000000000000000001'
  // Before the file, which would be a stray one without it.
  record(backup, { status: 'succeeded', sha256: 'a'.repeat(64) })
  mkdirSync(join(server.dataDirectory, 'backups'), { recursive: true })
  writeFileSync(join(server.dataDirectory, 'backups', backup), 'file')
  const path = `/services/wiki/disk/backups/${backup}`
  expect((await server.api('GET', path)).body).toMatchObject({
    id: backup,
    stored: ['local'],
    encrypted: false,
  })
  expect((await server.api('GET', `/services/plain/disk/backups/${backup}`)).status).toBe(404)
  expect((await server.api('GET', `/services/wiki/disk/backups/bak-00000000000000000001`)).status).toBe(404)
  expect(await server.api('POST', `${path}/restore`, { service: 'nobody' })).toMatchObject(
    refusal(404, /there is no service nobody/),
  )
  expect(await server.api('POST', `${path}/restore`, { service: 'plain' })).toMatchObject(
    refusal(409, /service plain has no disk/),
  )
  await create('files', { disks: [{ name: 'files', mount_path: '/srv' }] })
  expect(await server.api('POST', `${path}/restore`, { service: 'files' })).toMatchObject(
    refusal(409, /service files has no disk data: name one of files in the field disk/),
  )
  expect(await server.api('POST', `${path}/restore`, { service: 'files', disk: 'files' })).toMatchObject({
    status: 202,
    body: { disk_restore: { backup_id: backup, disk: 'files' } },
  })
  await create('target', { disk_mount_path: '/srv' })
  expect(await server.api('POST', `${path}/restore`, { service: 'target' })).toMatchObject({
    status: 202,
    body: {
      name: 'target',
      disk_restore: { backup_id: backup, disk: 'data', status: 'running', error: null },
    },
  })
  const isBusy = refusal(409, /is being restored/)
  expect(await server.api('POST', `${path}/restore`, { service: 'target' })).toMatchObject(isBusy)
  expect(await server.api('POST', '/services/target/disk/backups')).toMatchObject(isBusy)
  expect(await server.api('DELETE', path)).toMatchObject(isBusy)
  expect(await server.api('DELETE', '/services/wiki')).toMatchObject(
    refusal(409, /of service (?:target|files) is being restored from a backup of wiki.*force=true/),
  )
})
