import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { become, create as createDatastore, keyvalue } from './datastore-support.ts'
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

/** Has the server forget what `work` did, like a copy of its data that was made earlier. */
async function forgetting(work: () => Promise<unknown>): Promise<void> {
  const place = (name: string) => join(server.dataDirectory, name)
  await server.kill('SIGTERM')
  copyFileSync(place(DATABASE), place(KEPT))
  await server.restart()
  await work()
  await server.kill('SIGTERM')
  copyFileSync(place(KEPT), place(DATABASE))
  await server.restart()
}

const starts = async (name: string) =>
  (await fetchFrom(server, `${name}.localhost`)).text.match(/started/g)?.length

test(
  'restored older data brings back what it knows, next to containers that it does not know',
  { tags: ['slow'] },
  async () => {
    await create('web', { instances: 2 })
    await create('diary', { disk_mount_path: '/data' })
    const before = await Promise.all(ids.map(containersOf))
    let unknown: string[][] = []
    await forgetting(async () => {
      for (const name of ['web', 'diary']) expect(await deploy(name)).toMatchObject({ status: 'live' })
      await waitFor(async () => (await containersOf(ids[0]!)).length === 2, 'the former containers to go')
      unknown = await Promise.all(ids.map(containersOf))
      expect(unknown.flat().some((name) => before.flat().includes(name))).toBe(false)
    })
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
  },
)

const addressOf = (container: string) =>
  docker('inspect', '-f', '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}', container)

test(
  'a new datastore next to one that the restored data does not know has another address',
  { tags: ['slow'] },
  async () => {
    await server.api('POST', '/environments', { name: 'stores' })
    const make = async (name: string) => {
      const { id } = await createDatastore(server, { kind: 'keyvalue', name, environment: 'stores' })
      return become(server, id, 'available')
    }
    await make('first')
    let unknown = ''
    await forgetting(async () => (unknown = (await make('second')).id))
    try {
      const { id } = await make('third')
      expect(await addressOf(id)).not.toBe(await addressOf(unknown))
      const { status, body } = await server.api('POST', '/services', {
        name: 'asking',
        environment: 'stores',
        type: 'background_worker',
        image: 'busybox:1',
        start_command: 'sleep 100000',
      })
      expect(status).toBe(201)
      expect(await endOf(server, body.latest_deploy.id)).toMatchObject({ status: 'live', error: null })
      const [asking] = await containersOf(body.id)
      expect(await docker('exec', asking!, 'nslookup', 'third')).toContain(await addressOf(id))
    } finally {
      await docker('rm', '-fv', unknown)
    }
  },
)

test(
  'an instance and a datastore whose containers were created again since are known again and lose nothing',
  { tags: ['slow'] },
  async () => {
    await create('page')
    const id = ids.at(-1)!
    const [instance] = await containersOf(id)
    const { id: cache } = await createDatastore(server, { kind: 'keyvalue', name: 'cache' })
    const { external_url } = await become(server, cache, 'available')
    const idsNow = () => docker('inspect', '-f', '{{.Id}}', instance!, cache).catch(() => null)
    await forgetting(async () => {
      await docker('rm', '-f', instance!, cache)
      await waitFor(async () => (await idsNow()) !== null, 'both to be made anew')
      await waitFor(
        () => keyvalue(external_url, (client) => client.set('at', 'last')).catch(() => null),
        'the store to answer',
      )
    })
    const made = await idsNow()
    const state = async () => (await server.api('GET', '/services/page')).body.state as string
    await waitFor(async () => (await state()) === 'running', 'the service to run')
    expect((await server.api('POST', '/services/page/scale', { instances: 2 })).status).toBe(200)
    await waitFor(async () => (await containersOf(id)).length === 2, 'the second instance')
    await waitFor(async () => (await state()) === 'running', 'both to run')
    await become(server, cache, 'available')
    expect(await keyvalue(external_url, (client) => client.get('at'))).toBe('last')
    expect(await idsNow()).toBe(made)
    expect((await server.api('DELETE', '/services/page')).status).toBe(204)
    expect(await containersOf(id)).toEqual([])
  },
)
