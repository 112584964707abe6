import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { waitUntilReady, type Waiting } from '../../daemon/instances/readiness.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { never, openBench, type Bench } from './engine-support.ts'
import { containersOf, docker, endOf, fetchFrom } from './live.ts'

let server: TestServer
let bench: Bench

beforeAll(async () => {
  server = await startServer({ engine: true, schedule: { quietStartMs: 3_000 } })
  bench = await openBench()
})
afterAll(async () => {
  await bench?.close()
  await server?.stop()
})

const PAGE = 'mkdir -p /www && echo up > /www/index.html'

async function create(name: string, fields: object): Promise<{ id: string; deploy: string }> {
  const { status, body } = await server.api('POST', '/services', { name, image: 'busybox:1', ...fields })
  expect({ status, body }).toMatchObject({ status: 201 })
  return { id: body.id, deploy: body.latest_deploy.id }
}

async function logOf(deploy: string): Promise<string> {
  return (await server.api('GET', `/deploys/${deploy}/logs`)).body as string
}

describe('a program', () => {
  test(
    'that opens another port first is waited for, and the log says meanwhile what is missing',
    { tags: ['slow'] },
    async () => {
      const { deploy } = await create('debugged', {
        port: 9000,
        start_command: `${PAGE}; httpd -p 9229 -h /www; sleep 5; exec httpd -f -p 9000 -h /www`,
      })
      expect(await endOf(server, deploy)).toMatchObject({ status: 'live', error: null })
      expect(await logOf(deploy)).toContain(
        'the program listens on port 9229, not on port 9000: set port, or listen on $PORT',
      )
      expect((await fetchFrom(server, 'debugged.localhost')).text.trim()).toBe('up')
    },
  )

  test('is served from the only port that it listens on if nobody chose one', async () => {
    const { deploy } = await create('found', {
      instances: 2,
      start_command: `${PAGE}; exec httpd -f -p 8123 -h /www`,
    })
    expect(await endOf(server, deploy)).toMatchObject({ status: 'live', error: null })
    expect((await server.api('GET', `/deploys/${deploy}`)).body.port).toBe(8123)
    expect((await server.api('GET', '/services/found')).body.internal_port).toBe(8123)
    expect((await fetchFrom(server, 'found.localhost')).text.trim()).toBe('up')
    // A container that is created later knows it too.
    expect((await server.api('POST', '/services/found/scale', { instances: 1 })).status).toBe(200)
    expect((await server.api('POST', '/services/found/suspend')).status).toBe(200)
    expect((await server.api('POST', '/services/found/resume')).status).toBe(200)
    await waitFor(
      async () => (await fetchFrom(server, 'found.localhost')).status === 200,
      'a new container to serve',
    )
  })

  test('that listens only for itself is told so', async () => {
    const { deploy } = await create('shy', {
      start_command: `${PAGE}; exec httpd -f -p 127.0.0.1:10000 -h /www`,
    })
    const said = 'the program listens on 127.0.0.1:10000 only: listen on 0.0.0.0'
    const { status, error } = await endOf(server, deploy)
    expect({ status, error }).toEqual({ status: 'deploy_failed', error: expect.stringContaining(said) })
    expect(await logOf(deploy)).toContain(said)
  })

  test('that is slow to answer its health check makes the log say so, and for what it waits', async () => {
    const { deploy } = await create('slow', {
      port: 9000,
      health_check_path: '/health',
      start_command: 'mkdir /www; sleep 9; httpd -p 9000 -h /www; sleep 4; touch /www/health; sleep 600',
    })
    const first = 'waiting for GET /health: nothing listens on port 9000; 5 min at most'
    await waitFor(async () => (await logOf(deploy)).includes(first), 'the log to say what is waited for')
    const { body } = await server.api('GET', '/services/slow/status')
    expect(body.instances).toMatchObject([{ state: 'starting', reason: first }])
    expect(await endOf(server, deploy)).toMatchObject({ status: 'live', error: null })
    const said = (await logOf(deploy)).match(/waiting for [^"]*/g)
    expect(said).toEqual([first, 'waiting for GET /health: it answers 404; 5 min at most'])
    const after = (await server.api('GET', '/services/slow/status')).body
    expect(after.instances).toMatchObject([{ state: 'running', reason: null }])
  })

  test('that listens on the wrong port to the end is told which, when the time is over', async () => {
    const said: string[] = []
    const name = await bench.run('httpd -p 8081; sleep 600', { address: `${bench.prefix}31` })
    await expect(
      waitUntilReady(bench.engine, name, waiting(`${bench.prefix}31`, said), never()),
    ).rejects.toThrow(
      /^not healthy within .*: the program listens on port 8081, not on port 9000: set port, or listen on \$PORT$/,
    )
    expect(said).toEqual(['the program listens on port 8081, not on port 9000: set port, or listen on $PORT'])
  })
})

function waiting(host: string, said: string[]): Waiting {
  return {
    target: () => ({ host, port: 9000, path: null, hostHeader: 'x', published: false }),
    expected: { port: () => 9000, take: null, say: (hint) => said.push(hint) },
    lossOf: () => null,
    onEnd: async () => {},
    withinMs: 4_000,
  }
}

test(
  'a new instance that is removed in the middle of a rollout is created again',
  { tags: ['slow'] },
  async () => {
    const { id, deploy } = await create('bereft', {
      start_command: `${PAGE}; sleep 3; exec httpd -f -p $PORT -h /www`,
    })
    const [container] = await waitFor(async () => {
      const found = await containersOf(id)
      return found.length > 0 && found
    }, 'the new container')
    await waitFor(
      async () => (await docker('inspect', '-f', '{{.State.Running}}', container!)) === 'true',
      'its program to run',
    )
    await docker('rm', '-f', container!)
    expect(await endOf(server, deploy)).toMatchObject({ status: 'live', error: null })
    expect((await fetchFrom(server, 'bereft.localhost')).text.trim()).toBe('up')
  },
)

test('a new instance that exits while another still comes up is started again before requests go to it', async () => {
  const { id, deploy } = await create('uneven', {
    instances: 2,
    start_command: `${PAGE}; until [ -e /go ]; do sleep 0.1; done; exec httpd -f -p $PORT -h /www`,
  })
  const running = () => docker('ps', '-q', '--filter', `label=deployer.service=${id}`)
  await waitFor(async () => (await running()).split('\n').length === 2, 'both programs to run')
  const [first, last] = await containersOf(id)
  await docker('exec', first!, 'touch', '/go')
  await waitFor(async () => (await logOf(deploy)).includes(`${first} is ready`), 'one to be ready')
  await docker('kill', first!)
  await docker('exec', last!, 'touch', '/go')
  expect(await endOf(server, deploy)).toMatchObject({ status: 'live', error: null })
  expect(await logOf(deploy)).toMatch(
    new RegExp(`${first}: the program ended: exit code 137.*; restarting it[^]*"live"`),
  )
})

test('new instances that each exit once while others come up still go live', { tags: ['slow'] }, async () => {
  const { id, deploy } = await create('uneasy', {
    instances: 3,
    start_command: `${PAGE}; until [ -e /go ]; do sleep 0.1; done; rm /go; exec httpd -f -p $PORT -h /www`,
  })
  const running = () => docker('ps', '-q', '--filter', `label=deployer.service=${id}`)
  await waitFor(async () => (await running()).split('\n').length === 3, 'all programs to run')
  const [first, second, third] = (await containersOf(id)) as [string, string, string]
  const letGo = (name: string) =>
    waitFor(
      () =>
        docker('exec', name, 'touch', '/go').then(
          () => true,
          () => false,
        ),
      `${name} to run`,
    )
  const said = (what: string) => waitFor(async () => (await logOf(deploy)).includes(what), what)
  const isReady = (name: string) => said(`${name} is ready`)
  const hasEnded = (name: string) => said(`${name}: the program ended`)
  for (const name of [first, second]) {
    await letGo(name)
    await isReady(name)
  }
  // Each exits while the one before it is waited for.
  await docker('kill', first)
  await letGo(third)
  await hasEnded(first)
  await docker('kill', second)
  await letGo(first)
  await hasEnded(second)
  await docker('kill', third)
  await letGo(second)
  await hasEnded(third)
  await letGo(third)
  expect(await endOf(server, deploy)).toMatchObject({ status: 'live', error: null })
})
