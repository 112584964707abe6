import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { containersOf, docker, endOf, fetchFrom } from './live.ts'

const DATABASE = 'deployer.db'
const KEPT = 'deployer.db.kept'

let server: TestServer
const ids: string[] = []
beforeAll(async () => {
  server = await startServer({ engine: true })
})
afterAll(() => server?.stop())

/** Serves what its starts wrote to its folder. */
async function create(name: string, fields: object = {}): Promise<void> {
  const start_command = 'mkdir -p /data; echo started >>/data/index.html; exec httpd -f -p $PORT -h /data'
  const { body } = await server.api('POST', '/services', {
    name,
    image: 'busybox:1',
    start_command,
    ...fields,
  })
  ids.push(body.id)
  expect(await endOf(server, body.latest_deploy.id)).toMatchObject({ status: 'live', error: null })
}

async function deploy(name: string) {
  const { body } = await server.api('POST', `/services/${name}/deploys`)
  return endOf(server, body.id)
}

const starts = async (name: string) =>
  (await fetchFrom(server, `${name}.localhost`)).text.match(/started/g)?.length

test('data that is older than what runs brings back what it knows, beside containers that it does not know', async () => {
  await create('web', { instances: 2 })
  await create('diary', { disk_mount_path: '/data' })
  await server.kill('SIGTERM')
  copyFileSync(join(server.dataDirectory, DATABASE), join(server.dataDirectory, KEPT))
  await server.restart()
  const before = await Promise.all(ids.map(containersOf))
  for (const name of ['web', 'diary']) expect(await deploy(name)).toMatchObject({ status: 'live' })
  await waitFor(async () => (await containersOf(ids[0]!)).length === 2, 'the former containers to go')
  const unknown = await Promise.all(ids.map(containersOf))
  expect(unknown.flat().some((name) => before.flat().includes(name))).toBe(false)

  await server.kill('SIGTERM')
  copyFileSync(join(server.dataDirectory, KEPT), join(server.dataDirectory, DATABASE))
  await server.restart()
  expect(await deploy('web')).toMatchObject({ status: 'live', error: null })
  expect(await starts('web')).toBe(1)

  const [other] = unknown[1]!
  const reason = async () =>
    (await server.api('GET', '/services/diary/status')).body.instances[0].reason as string
  await waitFor(async () => (await reason())?.includes(`docker rm -f ${other}`), 'the reason')
  expect(await docker('ps', '-q', '--filter', `volume=deployer-${ids[1]}`)).toBe(
    await docker('ps', '-q', '--filter', `name=${other}`),
  )
  await docker('rm', '-f', ...unknown.flat())
  await waitFor(async () => (await starts('diary')) === 3, 'the disk to be served')
})
