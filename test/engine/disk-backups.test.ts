import { createHash } from 'node:crypto'
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer, type ApiAnswer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { containersOf, docker, endOf, fetchFrom } from './live.ts'

let server: TestServer
let id: string
let scratch: string

const run = promisify(execFile)

beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'deployer-disk-'))
  server = await startServer({ engine: true })
  await waitFor(() => server.logs.includes('reached_by'), 'the engine')
  id = await create('diary')
  await create('other')
})
afterAll(async () => {
  await server?.stop()
  rmSync(scratch, { recursive: true, force: true })
})

/** Serves what is on its disk. */
async function create(name: string): Promise<string> {
  const { status, body } = await server.api('POST', '/services', {
    name,
    image: 'busybox:1',
    disk_mount_path: '/data',
    start_command: `[ -e /data/at ] || echo first of ${name} > /data/at; exec httpd -f -p $PORT -h /data`,
  })
  expect({ status, body }).toMatchObject({ status: 201 })
  expect(await endOf(server, body.latest_deploy.id)).toMatchObject({ status: 'live', error: null })
  return body.id as string
}

/** Runs a command in the container of a service. */
async function inside(serviceId: string, command: string): Promise<string> {
  const [container] = await containersOf(serviceId)
  return docker('exec', container!, 'sh', '-c', command)
}

function backups(name: string, rest = ''): string {
  return `/services/${name}/disk/backups${rest}`
}

/** What the service serves of its disk. */
async function at(name: string): Promise<string> {
  return waitFor(async () => {
    const { status, text } = await fetchFrom(server, `${name}.localhost`, '/at')
    return status === 200 ? text.trim() : null
  }, `${name} to answer`)
}

/** Requests a backup and waits for its end. */
async function backUp(name: string, body: object = {}): Promise<ApiAnswer['body']> {
  const asked = await server.api('POST', backups(name), body)
  expect(asked).toMatchObject({ status: 202, body: { status: 'running', sha256: null } })
  return endOfBackup(name, asked.body.id)
}

function endOfBackup(name: string, backup: string): Promise<ApiAnswer['body']> {
  return waitFor(async () => {
    const { body } = await server.api('GET', backups(name, `/${backup}`))
    return body.status === 'running' ? null : body
  }, `the end of ${backup}`)
}

/** Requests a restore and waits for its end. */
async function restore(name: string, backup: string, body: object = {}): Promise<ApiAnswer['body']> {
  const asked = await server.api('POST', backups(name, `/${backup}/restore`), body)
  expect(asked).toMatchObject({
    status: 202,
    body: { disk_restore: { backup_id: backup, status: 'running' } },
  })
  return endOfRestore(asked.body.id)
}

function endOfRestore(service: string): Promise<ApiAnswer['body']> {
  return waitFor(async () => {
    const { body } = await server.api('GET', `/services/${service}`)
    return body.disk_restore?.status === 'running' ? null : body
  }, 'the end of the restore')
}

test('a disk is backed up while its program runs, and restored with owners, modes, links and times', async () => {
  await inside(
    id,
    `cd /data; mkdir -p sub; echo script > sub/run; chmod 4750 sub/run; chown 1234:2345 sub/run
     ln sub/run hard; ln -s sub/run soft; ln -s /etc/passwd outside; touch -t 200102030405 sub/run
     dd if=/dev/zero of=sparse bs=1 count=0 seek=10M; chown 7:8 .; chmod 1777 .`,
  )
  const list = `cd /data; stat -c '%n %F %a %u:%g %h %s %Y %N' . sub sub/run hard soft outside sparse; md5sum sparse at`
  const before = await inside(id, list)
  const backup = await backUp('diary')
  expect(backup).toMatchObject({
    status: 'succeeded',
    service_id: id,
    disk: 'data',
    trigger: 'manual',
    consistent: false,
    encrypted: false,
    error: null,
    stored: ['local'],
  })
  expect(backup.id).toMatch(/^dbk-/)
  expect(statSync(join(server.dataDirectory, 'backups', backup.id)).mode & 0o777).toBe(0o600)
  await inside(id, 'cd /data; echo second > at; rm -r sub soft; echo more > more')
  const after = await restore('diary', backup.id)
  expect(after.disk_restore).toMatchObject({ status: 'succeeded', error: null })
  expect(after.disk_kept_volumes).toMatchObject([{ volume: `deployer-${id}` }])
  expect(await at('diary')).toBe('first of diary')
  expect(await inside(id, list)).toBe(before)
  expect(await inside(id, 'ls /data')).not.toContain('more')
  // What was replaced is still there for a day.
  const kept = ['run', '--rm', '-v', `deployer-${id}:/disk`, 'busybox:1', 'cat', '/disk/at']
  expect(await docker(...kept)).toBe('second')
  // A deploy uses the new volume too.
  const restarted = await server.api('POST', '/services/diary/restart')
  expect(await endOf(server, restarted.body.id)).toMatchObject({ status: 'live' })
  expect(await at('diary')).toBe('first of diary')
  expect(await docker('ps', '-aq', '--filter', 'label=deployer.kind=disk-work')).toBe('')
})

test('the file is an archive that tar reads, with a checksum, and is removed beyond retention or when asked', async () => {
  await server.api('PATCH', '/services/diary', { disk_backup_retention: 2 })
  const made = [await backUp('diary'), await backUp('diary'), await backUp('diary')]
  await waitFor(
    async () => (await server.api('GET', backups('diary'))).body.length === 2 || null,
    'retention',
  )
  const listed = (await server.api('GET', backups('diary'))).body as { id: string }[]
  expect(listed.map((each) => each.id)).toEqual([made[2].id, made[1].id])
  const answer = await fetch(`${server.url}/api/v1${backups('diary', `/${made[2].id}/download`)}`, {
    headers: { authorization: `Bearer ${server.token}` },
  })
  expect(answer.headers.get('content-disposition')).toMatch(/filename="diary-[0-9TZ-]+\.tar\.gz"$/)
  const bytes = Buffer.from(await answer.arrayBuffer())
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(made[2].sha256)
  writeFileSync(join(scratch, 'disk.tar.gz'), bytes)
  const { stdout } = await run('tar', ['-xzOf', join(scratch, 'disk.tar.gz'), 'data/at'])
  expect(stdout).toBe('first of diary\n')
  expect((await server.api('DELETE', backups('diary', `/${made[1].id}`))).status).toBe(204)
  expect(existsSync(join(server.dataDirectory, 'backups', made[1].id))).toBe(false)
  expect((await server.api('GET', backups('other', `/${made[2].id}`))).status).toBe(404)
})

test('with `suspend` the program is stopped for the copy alone, and a second backup is refused meanwhile', async () => {
  await inside(id, 'dd if=/dev/urandom of=/data/large bs=1M count=64')
  const [former] = await containersOf(id)
  const asked = await server.api('POST', backups('diary'), { suspend: true })
  expect(asked).toMatchObject({ status: 202, body: { consistent: true } })
  const second = await server.api('POST', backups('diary'))
  expect(second).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
  const refused = await server.api('POST', backups('diary', `/${asked.body.id}/restore`), {})
  expect(refused).toMatchObject({ status: 409 })
  await waitFor(async () => {
    const { body } = await server.api('GET', '/services/diary')
    return body.state === 'suspended' && !body.suspended ? true : null
  }, 'the program to be stopped')
  expect(await endOfBackup('diary', asked.body.id)).toMatchObject({ status: 'succeeded', consistent: true })
  expect(await at('diary')).toBe('first of diary')
  expect(await containersOf(id)).not.toContain(former)
  await inside(id, 'rm /data/large')
})

test('a backup is restored into the disk of another service; a damaged one changes nothing', async () => {
  const backup = await backUp('diary')
  expect(await at('other')).toBe('first of other')
  const path = join(server.dataDirectory, 'backups', backup.id)
  const foreign = await backUp('other')
  const copied = await run('cp', [join(server.dataDirectory, 'backups', foreign.id), `${path}.kept`])
  expect(copied.stderr).toBe('')
  await run('mv', [path, `${path}.good`])
  await run('mv', [`${path}.kept`, path])
  const failed = await restore('diary', backup.id, { service: 'other' })
  expect(failed.disk_restore).toMatchObject({
    status: 'failed',
    error: expect.stringMatching(/bytes|checksum/),
  })
  expect(failed.disk_kept_volumes).toEqual([])
  expect(await at('other')).toBe('first of other')
  await run('mv', [`${path}.good`, path])
  const done = await restore('diary', backup.id, { service: 'other' })
  expect(done).toMatchObject({ name: 'other', disk_restore: { status: 'succeeded' } })
  expect(await at('other')).toBe('first of diary')
})

test('one of several disks is backed up and restored, also into a disk of another name', async () => {
  const disks = [
    { name: 'data', mount_path: '/data' },
    { name: 'notes', mount_path: '/notes' },
  ]
  await server.api('PATCH', '/services/other', { disks })
  const restarted = await server.api('POST', '/services/other/restart')
  expect(await endOf(server, restarted.body.id)).toMatchObject({ status: 'live', error: null })
  const other = (await server.api('GET', '/services/other')).body.id as string
  await inside(other, 'echo kept > /notes/at')
  const backup = await backUp('other', { disk: 'notes' })
  expect(backup).toMatchObject({ disk: 'notes', status: 'succeeded' })
  await inside(other, 'echo lost > /notes/at; echo stays > /data/at')
  const restored = await restore('other', backup.id)
  expect(restored.disk_restore).toMatchObject({ disk: 'notes', status: 'succeeded' })
  expect(restored.disk_kept_volumes[0]).toMatchObject({ disk: 'notes', volume: `deployer-${other}.notes` })
  expect(await at('other')).toBe('stays')
  expect(await inside(other, 'cat /notes/at')).toBe('kept')
  await restore('other', backup.id, { disk: 'data' })
  expect(await at('other')).toBe('kept')
})

test('a server that is killed in the middle leaves nothing half: a backup fails, a restore begins again', async () => {
  await inside(id, 'dd if=/dev/urandom of=/data/large bs=1M count=64')
  const whole = await backUp('diary')
  const asked = await server.api('POST', backups('diary'), { suspend: true })
  await waitFor(
    async () => ((await containersOf(id)).every((name) => name.startsWith('dbk-')) ? true : null),
    'a stop',
  )
  await server.kill('SIGKILL')
  await server.restart()
  const failed = await endOfBackup('diary', asked.body.id)
  expect(failed).toMatchObject({
    status: 'failed',
    error: expect.stringContaining('server stopped'),
    stored: [],
  })
  expect(await at('diary')).toBe('first of diary')
  await inside(id, 'echo third > /data/at')
  const begun = await server.api('POST', backups('diary', `/${whole.id}/restore`), {})
  expect(begun.status).toBe(202)
  await waitFor(async () => {
    const volumes = await docker('volume', 'ls', '-q', '--filter', `label=deployer.service=${id}`)
    return volumes.split('\n').length > 2 || begun.body.disk_kept_volumes.length > 1 || null
  }, 'the new volume')
  await server.kill('SIGKILL')
  await server.restart()
  const done = await endOfRestore(id)
  expect(done.disk_restore).toMatchObject({ status: 'succeeded' })
  expect(await at('diary')).toBe('first of diary')
  await waitFor(
    async () =>
      (await docker('ps', '-aq', '--filter', 'label=deployer.kind=disk-work')) === '' ? true : null,
    'helpers to go',
  )
  const files = readdirSync(join(server.dataDirectory, 'backups'))
  expect(files.filter((name) => name.endsWith('.part'))).toEqual([])
})

test('a server backup holds one of each disk when it is asked for', { tags: ['slow'] }, async () => {
  const { body } = await server.api('POST', '/server/backups', { datastores: false, disks: true })
  await waitFor(async () => {
    const made = await server.api('GET', `/server/backups/${body.id}`)
    expect(made.body.error).toBeNull()
    return made.body.status === 'succeeded' || null
  }, 'the server backup')
  const file = join(server.dataDirectory, 'backups', 'server', body.id)
  const { stdout } = await run('tar', ['-tzf', file])
  for (const name of ['diary', 'other']) {
    const [newest] = (await server.api('GET', backups(name))).body
    expect(newest).toMatchObject({ trigger: 'server', status: 'succeeded' })
    expect(stdout).toContain(`backups/${newest.id}`)
  }
})

test('a service is deleted with its volumes and its backups, also during a backup', async () => {
  await inside(id, 'dd if=/dev/urandom of=/data/larger bs=1M count=64')
  const asked = await server.api('POST', backups('diary'))
  expect(asked.status).toBe(202)
  expect((await server.api('DELETE', '/services/diary')).status).toBe(204)
  expect((await server.api('GET', '/services/diary')).status).toBe(404)
  expect(await docker('volume', 'ls', '-q', '--filter', `label=deployer.service=${id}`)).toBe('')
  expect(readdirSync(join(server.dataDirectory, 'backups'))).not.toContain(asked.body.id)
})
