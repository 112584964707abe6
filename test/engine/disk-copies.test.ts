import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startBucket, type TestBucket } from '../stand/bucket.ts'
import { startServer, type ApiAnswer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { containersOf, docker, endOf, fetchFrom } from './live.ts'

const PASSPHRASE = 'a passphrase of the tests'

let bucket: TestBucket
let server: TestServer
let id: string
let scratch: string

beforeAll(async () => {
  bucket = await startBucket()
  scratch = mkdtempSync(join(tmpdir(), 'deployer-passphrase-'))
  const file = join(scratch, 'passphrase')
  writeFileSync(file, `${PASSPHRASE}\n`)
  server = await startServer({ engine: true, flags: [...bucket.flags, '--backup-passphrase-file', file] })
  await waitFor(() => server.logs.includes('reached_by'), 'the engine')
  const { body } = await server.api('POST', '/services', {
    name: 'diary',
    image: 'busybox:1',
    disk_mount_path: '/data',
    start_command: '[ -e /data/at ] || echo first > /data/at; exec httpd -f -p $PORT -h /data',
  })
  await endOf(server, body.latest_deploy.id)
  id = body.id
})
afterAll(async () => {
  await server?.stop()
  await bucket?.stop()
  rmSync(scratch, { recursive: true, force: true })
})

async function inside(command: string): Promise<string> {
  const [container] = await containersOf(id)
  return docker('exec', container!, 'sh', '-c', command)
}

async function backUp(body: object = {}): Promise<ApiAnswer['body']> {
  const asked = await server.api('POST', '/services/diary/disk/backups', body)
  expect(asked.status).toBe(202)
  return waitFor(async () => {
    const { body } = await server.api('GET', `/services/diary/disk/backups/${asked.body.id}`)
    return body.status === 'running' ? null : body
  }, 'the end of the backup')
}

async function at(): Promise<string> {
  return waitFor(async () => {
    const { status, text } = await fetchFrom(server, 'diary.localhost', '/at')
    return status === 200 ? text.trim() : null
  }, 'an answer')
}

test(
  'with a passphrase the copy is sealed, and serves restores and downloads alone',
  { tags: ['slow'] },
  async () => {
    const backup = await backUp()
    expect(backup).toMatchObject({
      status: 'succeeded',
      stored: ['local', 's3'],
      encrypted: true,
      error: null,
    })
    const name = (await bucket.objects()).find((each) => each.includes(backup.id))
    expect(name).toMatch(/production\/diary\/dbk-[0-9a-f]+-diary-[0-9TZ-]+\.tar\.gz\.age$/)
    const download = async (headers: Record<string, string> = {}) => {
      const path = `/api/v1/services/diary/disk/backups/${backup.id}/download`
      const answer = await fetch(server.url + path, {
        headers: { authorization: `Bearer ${server.token}`, ...headers },
      })
      return Buffer.from(await answer.arrayBuffer())
    }
    const local = await download()
    rmSync(join(server.dataDirectory, 'backups', backup.id))
    expect((await download()).equals(local)).toBe(true)
    expect((await download({ range: 'bytes=20-99' })).equals(local.subarray(20, 100))).toBe(true)
    await inside('echo second > /data/at')
    await server.api('POST', `/services/diary/disk/backups/${backup.id}/restore`, {})
    await waitFor(async () => {
      const { body } = await server.api('GET', '/services/diary')
      expect(body.disk_restore.error).toBeNull()
      return body.disk_restore.status === 'succeeded' || null
    }, 'the restore')
    expect(await at()).toBe('first')
    expect((await server.api('DELETE', `/services/diary/disk/backups/${backup.id}`)).status).toBe(204)
    await waitFor(
      async () => !(await bucket.objects()).some((each) => each.includes(backup.id)) || null,
      'removal',
    )
  },
)

test('a deploy waits for the copy of a stopped program, and goes on', { tags: ['slow'] }, async () => {
  await inside('dd if=/dev/urandom of=/data/large bs=1M count=96')
  const made = backUp({ suspend: true })
  await waitFor(
    async () => (await containersOf(id)).every((name) => name.startsWith('dbk-')) || null,
    'a stop',
  )
  const { body } = await server.api('POST', '/services/diary/restart')
  expect(await endOf(server, body.id)).toMatchObject({ status: 'live' })
  const backup = await made
  expect(backup).toMatchObject({ status: 'succeeded', consistent: true })
  const log = await server.api('GET', `/deploys/${body.id}/logs`)
  expect(JSON.stringify(log.body)).toContain('waiting for the backup or the restore of the disk to finish')
  expect(await at()).toBe('first')
  await inside('rm /data/large')
})

test('a file that shrinks while it is read never makes half an archive', { tags: ['slow'] }, async () => {
  await inside(
    '(while [ ! -e /data/stop ]; do dd if=/dev/zero of=/data/a bs=1M count=300; : > /data/a; done >/dev/null 2>&1) &',
  )
  for (let round = 0; round < 3; round++) {
    const backup = await backUp()
    if (backup.status === 'failed') expect(backup.error).toMatch(/a file became shorter while it was read/)
    else {
      const path = join(server.dataDirectory, 'backups', backup.id)
      const list = await docker('run', '--rm', '-v', `${path}:/b:ro`, 'busybox:1', 'tar', '-tzf', '/b')
      expect(list).toContain('data/at')
    }
  }
  await inside('touch /data/stop')
})
