import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { containersOf, docker, endOf, fetchFrom } from './live.ts'

let server: TestServer

beforeAll(async () => {
  server = await startServer({ engine: true })
})
afterAll(() => server?.stop())

async function live(name: string, fields: object = {}): Promise<{ id: string; container: string }> {
  const { body } = await server.api('POST', '/services', {
    name,
    image: 'busybox:1',
    start_command: 'mkdir -p /www; echo up > /www/index.html; exec httpd -f -p $PORT -h /www',
    ...fields,
  })
  expect(await endOf(server, body.latest_deploy.id)).toMatchObject({ status: 'live', error: null })
  const [container] = await containersOf(body.id as string)
  return { id: body.id as string, container: container! }
}

interface Instance {
  name: string
  state: string
  reason: string | null
}

async function instanceOf(name: string): Promise<Instance> {
  return ((await server.api('GET', `/services/${name}/status`)).body.instances as Instance[])[0]!
}

/** A setting of a container, or its id. */
function ask(container: string, format: string): Promise<string> {
  return docker('inspect', '-f', `{{${format}}}`, container)
}

async function untilNew(container: string, formerId: string, name: string): Promise<void> {
  await waitFor(async () => (await ask(container, '.Id')) !== formerId, 'the container to be made anew')
  await waitFor(
    async () => (await fetchFrom(server, `${name}.localhost`)).status === 200,
    'the new container to serve',
  )
}

test('a container that lost its network is created again with it', async () => {
  const { container } = await live('unplugged')
  const former = await ask(container, '.Id')
  const [environment] = (await server.api('GET', '/environments')).body as { id: string }[]
  await docker('network', 'disconnect', `deployer-${environment!.id}`, container)
  await untilNew(container, former, 'unplugged')
  expect((await instanceOf('unplugged')).reason).toMatch(/lost its network|^null$/)
})

test(
  'a container that was given another address or other settings is created again as it was',
  { tags: ['slow'] },
  async () => {
    const { container } = await live('bent', { memory_limit_mb: 64 })
    const former = await ask(container, '.Id')
    await docker('update', '--memory', '96m', '--memory-swap', '96m', container)
    await untilNew(container, former, 'bent')
    expect(await ask(container, '.HostConfig.Memory')).toBe(String(64 * 1024 * 1024))

    const second = await ask(container, '.Id')
    const [environment] = (await server.api('GET', '/environments')).body as { id: string }[]
    const network = `deployer-${environment!.id}`
    const address = `(index .NetworkSettings.Networks "${network}").IPAddress`
    const given = await ask(container, address)
    await docker('network', 'disconnect', network, container)
    await docker('network', 'connect', network, container)
    await untilNew(container, second, 'bent')
    expect(await ask(container, address)).toBe(given)
  },
)

test.each([
  ['web_service', {}],
  ['background_worker', { type: 'background_worker', start_command: 'exec sleep 3600' }],
])('a %s that is paused counts as failing until it continues', { tags: ['slow'] }, async (type, fields) => {
  const name = `frozen-${type.split('_')[0]}`
  const { container } = await live(name, fields)
  await docker('pause', container)
  expect(
    await waitFor(async () => {
      const instance = await instanceOf(name)
      return instance.state === 'failing' && instance
    }, 'it to count as failing'),
  ).toMatchObject({ reason: expect.stringContaining('paused') })
  await docker('unpause', container)
  await waitFor(async () => (await instanceOf(name)).state === 'running', 'it to be well again')
  // It is removed silently even while it is frozen.
  await docker('pause', container)
  expect((await server.api('DELETE', `/services/${name}`)).status).toBe(204)
})
