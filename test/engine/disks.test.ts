import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRepository, commit, startGitHttp, type GitRemote } from '../stand/git.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { containersOf, docker, endOf, fetchFrom } from './live.ts'

let server: TestServer
let remote: GitRemote

beforeAll(async () => {
  server = await startServer({ engine: true })
  remote = await startGitHttp()
})
afterAll(async () => {
  await remote?.close()
  await server?.stop()
})

/** Writes its starts and exits to its disk, and serves what it wrote. */
const PROGRAM = `#!/bin/sh
trap 'echo ended >> /data/events.txt; exit 0' TERM
echo started >> /data/events.txt
httpd -f -p $PORT -h /data &
wait
`

function diary(more = ''): Record<string, { mode: number; content: string } | string> {
  return {
    Dockerfile: `FROM busybox:1\nCOPY run /run.sh\n${more}CMD ["/run.sh"]\n`,
    run: { mode: 0o755, content: PROGRAM },
  }
}

async function create(name: string, files: ReturnType<typeof diary>, fields: object = {}) {
  const repository = await createRepository(files)
  const { status, body } = await server.api('POST', '/services', {
    name,
    repo_url: remote.url(repository),
    disk_mount_path: '/data',
    ...fields,
  })
  expect({ status, body }).toMatchObject({ status: 201 })
  expect(await endOf(server, body.latest_deploy.id)).toMatchObject({ status: 'live', error: null })
  return { id: body.id as string, repository }
}

async function events(name: string): Promise<string> {
  const { text } = await fetchFrom(server, `${name}.localhost`, '/events.txt')
  return text.trim().split('\n').join(' ')
}

test('a disk outlives deploys, restarts, suspension and crashes, and only one instance writes to it at a time', async () => {
  const { id, repository } = await create('diary', diary())
  expect(await events('diary')).toBe('started')
  await commit(repository, { note: 'changed' }, 'second')
  const second = await server.api('POST', '/services/diary/deploys')
  expect(await endOf(server, second.body.id)).toMatchObject({ status: 'live' })
  expect(await events('diary')).toBe('started ended started')
  const restart = await server.api('POST', '/services/diary/restart')
  expect(await endOf(server, restart.body.id)).toMatchObject({ status: 'live' })
  expect(await events('diary')).toBe('started ended started ended started')
  await server.api('POST', '/services/diary/suspend')
  await waitFor(async () => (await containersOf(id)).length === 0 || null, 'the container to be gone')
  await server.api('POST', '/services/diary/resume')
  await waitFor(
    async () => (await fetchFrom(server, 'diary.localhost', '/events.txt')).status === 200 || null,
    'the service to be back',
  )
  expect(await events('diary')).toBe('started ended started ended started ended started')
  const [container] = await containersOf(id)
  await docker('kill', container!)
  await waitFor(
    async () => ((await events('diary').catch(() => '')).endsWith('started started') ? true : null),
    'the program to be started again',
  )
})

test('several disks keep their contents over a deploy and a rollback, each its own, and are deleted with the service', async () => {
  const disks = [
    { name: 'data', mount_path: '/data' },
    { name: 'notes', mount_path: '/srv/notes' },
  ]
  const run = 'date +%N >> /srv/notes/at; cp /srv/notes/at /data/at; exec httpd -f -p $PORT -h /data'
  const files = { ...diary('USER 1234\n'), run: { mode: 0o755, content: `#!/bin/sh\n${run}\n` } }
  const { id } = await create('several', files, { disk_mount_path: undefined, disks })
  const { live_deploy_id: first } = (await server.api('GET', '/services/several')).body
  const starts = async () => (await fetchFrom(server, 'several.localhost', '/at')).text.trim().split('\n')
  const [begun] = await starts()
  const restart = await server.api('POST', '/services/several/restart')
  expect(await endOf(server, restart.body.id)).toMatchObject({ status: 'live', error: null })
  expect(await starts()).toEqual([begun, expect.any(String)])
  const volumes = () => docker('volume', 'ls', '-q', '--filter', `label=deployer.service=${id}`)
  expect((await volumes()).split('\n')).toEqual([`deployer-${id}`, `deployer-${id}.notes`])
  // What a service no longer has comes back with a rollback.
  await server.api('PATCH', '/services/several', { disks: disks.slice(0, 1) })
  const rollback = await server.api('POST', '/services/several/rollback', { deploy_id: first })
  expect(await endOf(server, rollback.body.id)).toMatchObject({ status: 'live', error: null })
  expect(await starts()).toHaveLength(3)
  expect((await server.api('DELETE', '/services/several')).status).toBe(204)
  expect(await volumes()).toBe('')
})

test('a failed deploy leaves the previous version running again on its disk', async () => {
  const { repository } = await create('keeper', diary())
  await commit(repository, { run: { mode: 0o755, content: '#!/bin/sh\necho no way\nexit 7\n' } }, 'broken')
  const { body } = await server.api('POST', '/services/keeper/deploys')
  const ended = await endOf(server, body.id)
  expect(ended).toMatchObject({
    status: 'deploy_failed',
    error: expect.stringMatching(/exit code 7[^]*no way/),
  })
  await waitFor(
    async () => (await fetchFrom(server, 'keeper.localhost', '/events.txt')).status === 200 || null,
    'the former version to be back',
  )
  expect(await events('keeper')).toBe('started ended started')
})

test.each([
  ['a number', 'USER 1234\n'],
  ['a number with a group', 'USER 1234:2345\n'],
  ['a name of the image', 'RUN echo writer:x:1500:1500::/:/bin/sh >> /etc/passwd\nUSER writer\n'],
])('a new disk belongs to the user that the image runs as: %s', async (what, user) => {
  const name = `owner-${what.replaceAll(' ', '-')}`
  await create(name, diary(user))
  expect(await events(name)).toBe('started')
})

test('a disk is deleted with its service and not before', async () => {
  const { id } = await create('leaver', diary())
  const cleared = await server.api('PATCH', '/services/leaver', { disk_mount_path: null })
  expect(cleared.body.disk_mount_path).toBeNull()
  expect(await docker('volume', 'ls', '-q')).toContain(`deployer-${id}`)
  expect((await server.api('DELETE', '/services/leaver')).status).toBe(204)
  expect(await docker('volume', 'ls', '-q')).not.toContain(`deployer-${id}`)
})

test('a service with a disk cannot be scaled to more than one instance', async () => {
  await create('single', diary())
  const scaled = await server.api('POST', '/services/single/scale', { instances: 2 })
  expect(scaled).toMatchObject({ status: 400, body: { error: { code: 'invalid_request' } } })
  expect(scaled.body.error.message).toMatch(/^instances: .*disk/)
})
