import { readFileSync } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import { join } from 'node:path'
import { createGzip } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { databaseOf } from '../support/database.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { cacheIds, tarOf } from './engine-support.ts'
import { containersOf, docker, endOf, fetchFrom } from './live.ts'

/** Listens only after a while, so that a deploy can be caught during its rollout. */
const SLOW_START =
  'mkdir -p /tmp/www && echo $VERSION > /tmp/www/index.html && sleep 4 && exec httpd -f -p $PORT -h /tmp/www'

let server: TestServer

beforeAll(async () => {
  server = await startServer({ engine: true })
})

afterAll(async () => {
  await server?.stop()
})

async function page(host: string): Promise<string> {
  return (await fetchFrom(server, host)).text.trim()
}

async function untilStatus(id: string, status: string): Promise<void> {
  await waitFor(
    async () => (await server.api('GET', `/deploys/${id}`)).body.status === status,
    `${id} to be ${status}`,
  )
}

describe('the server is killed at any moment and continues', () => {
  let id: string

  test('a deploy that was rolling out is finished after the start, and the old version serves meanwhile', async () => {
    const created = await server.api('POST', '/services', {
      name: 'slow',
      image: 'busybox:1',
      start_command: SLOW_START,
      env: [{ key: 'VERSION', value: 'one' }],
    })
    id = created.body.id
    await untilStatus(created.body.latest_deploy.id, 'live')
    await server.api('PATCH', '/services/slow/env', { set: { VERSION: 'two' } })
    const restart = await server.api('POST', '/services/slow/restart')
    await untilStatus(restart.body.id, 'deploying')
    await waitFor(async () => (await containersOf(id)).length === 2, 'the new container')
    await server.kill('SIGKILL')
    expect(await page('slow.localhost')).toBe('one')
    await server.restart()
    expect(await page('slow.localhost')).toBe('one')
    await untilStatus(restart.body.id, 'live')
    expect(await page('slow.localhost')).toBe('two')
    await waitFor(async () => (await containersOf(id)).length === 1, 'the old container to be gone')
  })

  test('a container that was removed from outside is created again', async () => {
    const [name] = await containersOf(id)
    await docker('rm', '-f', name!)
    await waitFor(async () => (await containersOf(id)).length === 1, 'a container')
    await waitFor(async () => (await page('slow.localhost')) === 'two', 'the page')
    expect((await server.api('GET', '/services/slow')).body.state).toBe('running')
  })

  test('an image is kept as long as a live deploy runs it, however many restarts come after its build', async () => {
    for (let round = 0; round < 2; round++) {
      const restart = await server.api('POST', '/services/slow/restart')
      await untilStatus(restart.body.id, 'live')
      const { body } = await server.api('GET', `/deploys/${restart.body.id}`)
      const kept = await docker('images', '--format', '{{.Repository}}:{{.Tag}}')
      expect(kept).toContain(`${id}:${body.id}`)
    }
  })

  test(
    'a rollout that was under way in two crashes fails, and what it started is removed',
    { tags: ['slow'] },
    async () => {
      const restart = await server.api('POST', '/services/slow/restart')
      for (let crash = 0; crash < 2; crash++) {
        await untilStatus(restart.body.id, 'deploying')
        await server.kill('SIGKILL')
        await server.restart()
      }
      expect((await server.api('GET', `/deploys/${restart.body.id}`)).body).toMatchObject({
        status: 'deploy_failed',
        error: expect.stringContaining('crashed twice'),
      })
      await waitFor(async () => (await containersOf(id)).length === 1, 'the new container to be gone')
      expect(await page('slow.localhost')).toBe('two')
    },
  )

  test('SIGTERM stops the server and leaves containers and pages as they are', async () => {
    await server.kill('SIGTERM')
    expect(await page('slow.localhost')).toBe('two')
    expect(await containersOf(id)).not.toEqual([])
    await server.restart()
  })

  test('deleting a service removes its containers and frees its name', async () => {
    expect((await server.api('DELETE', '/services/slow')).status).toBe(204)
    expect(await containersOf(id)).toEqual([])
    const again = await server.api('POST', '/services', { name: 'slow', deploy: false })
    expect(again.status).toBe(201)
    expect(again.body.id).not.toBe(id)
  })

  test('what a build left in the cache is known after a crash right behind it, and nothing reveals its arguments', async () => {
    const secret = 'a value that names of steps hold'
    const Dockerfile = `FROM busybox:1\nARG WORD\nRUN echo ${server.dataDirectory} $WORD > /a\nCMD httpd -f -p $PORT\n`
    const env = [{ key: 'WORD', value: secret }]
    const created = await server.api('POST', '/services', { name: 'built', env })
    expect(created).toMatchObject({ status: 201 })
    const archive = await buffer(tarOf({ Dockerfile }).pipe(createGzip()))
    const { status, body } = await server.api('POST', '/services/built/deploys/upload', archive)
    expect({ status, body }).toMatchObject({ status: 202 })
    await untilStatus(body.id, 'deploying')
    await server.kill('SIGKILL')
    expect(cacheRecords()).toContainEqual({ name: expect.any(String) as string, engine_id: null })
    for (const file of ['deployer.db', 'deployer.db-wal'])
      expect(readFileSync(join(server.dataDirectory, file)).includes(secret)).toBe(false)
    await server.restart()
    const [made] = await cacheIds(`echo ${server.dataDirectory} $WORD > /a`)
    await waitFor(
      () => cacheRecords().some(({ engine_id }) => engine_id === made),
      'what the step left to be known',
    )
    expect((await endOf(server, body.id)).status).toBe('live')
  })
})

test.each([
  ['plain', {}],
  ['diary', { disk_mount_path: '/data' }],
])(
  'a container removed from outside while its rollout waits for it is created again: %s',
  { tags: ['slow'] },
  async (name, fields) => {
    const service = { name, image: 'busybox:1', start_command: SLOW_START, ...fields }
    const { body } = await server.api('POST', '/services', service)
    await untilStatus(body.latest_deploy.id, 'live')
    const former = await containersOf(body.id)
    for (let round = 0; round < 2; round++) {
      const restart = await server.api('POST', `/services/${name}/restart`)
      const isNew = async () => (await containersOf(body.id)).find((each) => !former.includes(each))
      const added = await waitFor(isNew, 'the new container')
      former.push(added)
      await docker('rm', '-f', added)
      expect(await endOf(server, restart.body.id)).toMatchObject({ status: 'live', error: null })
      expect((await fetchFrom(server, `${name}.localhost`)).status).toBe(200)
    }
  },
)

function cacheRecords(): { name: string; engine_id: string | null }[] {
  const database = databaseOf(server.dataDirectory, { readOnly: true })
  try {
    const sql = "SELECT name, engine_id FROM engine_things WHERE kind = 'build_cache'"
    return database.prepare(sql).all() as { name: string; engine_id: string | null }[]
  } finally {
    database.close()
  }
}
