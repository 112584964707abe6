import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createRepository, startGitHttp, type GitRemote } from '../stand/git.ts'
import { startReceiver, type Receiver } from '../support/receiver.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { openDoor, type EngineDoor } from './engine-door.ts'
import { containersOf, docker, endOf, fetchFrom } from './live.ts'

/** Much less than the minute between two cleanups. */
const UNTIL_CLEANED_MS = 30_000

let door: EngineDoor
let server: TestServer
let remote: GitRemote
let monitoring: Receiver

beforeAll(async () => {
  door = await openDoor()
  monitoring = await startReceiver()
  server = await startServer({
    engine: true,
    flags: ['--docker-host', door.host],
    env: { DEPLOYER_HEARTBEAT_URL: `${monitoring.url}/ping/secret-path-end` },
    schedule: { heartbeatEveryMs: 100 },
  })
  remote = await startGitHttp()
})
afterAll(async () => {
  await remote?.close()
  await door?.comeBack()
  await server?.stop()
  await door?.close()
  monitoring?.close()
})
beforeEach(() => door.comeBack())

let count = 0

async function live(): Promise<{ id: string; name: string }> {
  const name = `away-${++count}`
  const { body } = await server.api('POST', '/services', {
    name,
    image: 'busybox:1',
    start_command: 'mkdir -p /www; echo up > /www/index.html; exec httpd -f -p $PORT -h /www',
  })
  expect(await endOf(server, body.latest_deploy.id)).toMatchObject({ status: 'live', error: null })
  return { id: body.id as string, name }
}

test('the heartbeat stops while the engine is away, and while it is refused it is logged once', async () => {
  const beats = () => monitoring.received.length
  const more = (count: number) => waitFor(() => beats() > count, 'a heartbeat')
  const told = (line: RegExp) => server.logs.split('\n').filter((each) => line.test(each)).length
  await more(0)
  expect(monitoring.received[0]).toMatchObject({ method: 'GET', path: '/ping/secret-path-end', body: '' })
  monitoring.answer = { status: 302, headers: { location: '/elsewhere' } }
  await waitFor(() => told(/there is no heartbeat.*redirects are not followed/), 'the refusal')
  await more(beats() + 3)
  expect(told(/there is no heartbeat/)).toBe(1)
  monitoring.answer = { status: 200 }
  await waitFor(() => told(/the heartbeat is sent again/), 'the recovery')

  await door.goAway()
  await waitFor(() => told(/there is no heartbeat.*engine does not answer/), 'the silence')
  const before = beats()
  await door.comeBack()
  await more(before)
  expect(monitoring.received.some(({ path }) => path === '/elsewhere')).toBe(false)
  expect(server.logs).not.toContain('secret-path')
})

interface Change {
  what: string
  request: [method: string, path: string, body?: object]
  saved: object
  containers: number
}
const SUSPENDED = { suspended: true, state: 'suspended' }
const CHANGES: Change[] = [
  { what: 'suspending', request: ['POST', '/suspend'], saved: SUSPENDED, containers: 0 },
  { what: 'scaling', request: ['POST', '/scale', { instances: 2 }], saved: { instances: 2 }, containers: 2 },
]
const CHANGES_BY_PATCH: Change[] = [
  { what: 'suspending', request: ['PATCH', '', { suspended: true }], saved: SUSPENDED, containers: 0 },
  {
    what: 'scaling',
    request: ['PATCH', '', { instances: 0 }],
    saved: { instances: 0, state: 'idle' },
    containers: 0,
  },
]

test.each(CHANGES)(
  '$what a running service is saved while the engine is away, says so, and takes effect when it is back',
  isSavedWhileTheEngineIsAway,
)
test.each(CHANGES_BY_PATCH)(
  '$what a running service by patch is saved while the engine is away, and takes effect when it is back',
  { tags: ['slow'] },
  isSavedWhileTheEngineIsAway,
)

async function isSavedWhileTheEngineIsAway({ request, saved, containers }: Change): Promise<void> {
  const [method, path, body] = request
  const service = await live()
  await door.goAway()
  const answer = await server.api(method, `/services/${service.name}${path}`, body)
  expect(answer).toMatchObject({
    status: 502,
    body: {
      error: { code: 'runtime_error', message: expect.stringMatching(/^saved; not applied yet: .*engine/) },
    },
  })
  expect((await server.api('GET', `/services/${service.name}`)).body).toMatchObject(saved)
  await door.comeBack()
  await waitFor(
    async () => ((await containersOf(service.id)).length === containers ? true : null),
    `${containers} containers`,
  )
}

test('requests that need no engine are answered while it is away, and services keep serving', async () => {
  const service = await live()
  await door.goAway()
  expect(await fetchFrom(server, `${service.name}.localhost`)).toMatchObject({ status: 200 })
  expect((await server.api('PATCH', `/services/${service.name}/env`, { set: { A: 'b' } })).status).toBe(200)
  const created = await server.api('POST', '/services', { name: 'made-meanwhile', deploy: false })
  expect(created.status).toBe(201)
  expect((await server.api('POST', '/services/made-meanwhile/suspend')).status).toBe(200)
  const restart = await server.api('POST', `/services/${service.name}/restart`)
  expect(restart).toMatchObject({ status: 202, body: { status: 'queued' } })
  await door.comeBack()
  expect(await endOf(server, restart.body.id)).toMatchObject({ status: 'live' })
})

test(
  'a line that was half printed when the engine went away is kept complete, and once',
  { tags: ['slow'] },
  async () => {
    const service = await live()
    const [container] = await containersOf(service.id)
    const print = (text: string) => docker('exec', container!, 'sh', '-c', `printf '${text}' > /proc/1/fd/1`)
    const lines = async () => {
      const { body } = await server.api('GET', `/services/${service.name}/logs`)
      return [...(body as string).matchAll(/"stdout","line":"([^"]*)"/g)].map(([, line]) => line)
    }
    await print('first\\nsecond, ')
    await waitFor(async () => (await lines()).includes('first'), 'the line before it')
    await door.goAway()
    await print('to its end\\nthird\\n')
    await door.comeBack()
    await waitFor(async () => (await lines()).includes('third'), 'the line after it')
    expect(await lines()).toEqual(['first', 'second, to its end', 'third'])
  },
)

test('how a job ended is known after a kill of the server, even if its container was about to be removed', async () => {
  const service = await live()
  door.refuse({ line: /^DELETE .*\/containers\/[^/]+\?/, words: null })
  const { body } = await server.api('POST', `/services/${service.name}/jobs`, { command: 'echo it is done' })
  const status = async () => (await server.api('GET', `/jobs/${body.id}`)).body.status as string
  await waitFor(async () => (await status()) === 'succeeded', 'the end of the job')
  await server.kill('SIGKILL')
  door.refuse(null)
  await docker('rm', '-f', body.id as string)
  await server.restart()
  expect(await status()).toBe('succeeded')
  expect((await server.api('GET', `/jobs/${body.id}/logs`)).body).toMatch(/it is done[^]*exit code 0/)
})

test('a job whose program was about to start when the engine went away runs once, when it is back', async () => {
  const service = await live()
  const before = door.refusals
  door.refuse({ line: /^POST .*\/containers\/create/, words: null })
  const command = 'echo it ran'
  const { id } = (await server.api('POST', `/services/${service.name}/jobs`, { command })).body
  await waitFor(() => door.refusals > before, 'the container to be asked for')
  door.refuse(null)
  await door.goAway()
  const log = async () => (await server.api('GET', `/jobs/${id}/logs`)).body as string
  await waitFor(async () => (await log()).includes('waiting until it is back'), 'the word')
  expect((await server.api('GET', `/jobs/${id}`)).body).toMatchObject({ status: 'running' })
  await door.comeBack()
  const job = await waitFor(async () => {
    const { body } = await server.api('GET', `/jobs/${id}`)
    return body.finished_at !== null && body
  }, 'the end of the job')
  expect(job).toMatchObject({ status: 'succeeded', error: null })
  expect((await log()).match(/"it ran"/g)).toHaveLength(1)
})

test('the container of a job that ended while the engine was away is removed when it is back', async () => {
  const service = await live()
  const command = 'sleep 600'
  const { id } = (await server.api('POST', `/services/${service.name}/jobs`, { command })).body
  const running = () => docker('ps', '-q', '--filter', `name=${id}`)
  await waitFor(running, 'its container to run')
  await door.goAway()
  expect((await server.api('POST', `/jobs/${id}/cancel`)).status).toBe(200)
  await server.kill('SIGKILL')
  await door.comeBack()
  await server.restart()
  await waitFor(async () => (await running()) === '', 'its container to be gone', UNTIL_CLEANED_MS)
})

test(
  'a deploy says that it waits for an engine that accepts requests but does not answer',
  { tags: ['slow'] },
  async () => {
    const service = await live()
    door.fallSilent(true)
    try {
      const { id } = (await server.api('POST', `/services/${service.name}/restart`)).body
      const log = async () => (await server.api('GET', `/deploys/${id}/logs`)).body as string
      await waitFor(async () => (await log())?.includes('waiting for the container engine'), 'the word')
      expect((await server.api('GET', `/deploys/${id}`)).body.status).toBe('queued')
      door.fallSilent(false)
      expect(await endOf(server, id)).toMatchObject({ status: 'live' })
    } finally {
      door.fallSilent(false)
    }
  },
)

describe('a deploy under way when the engine goes away', () => {
  const SERVE = 'mkdir -p /www; echo up > /www/index.html; exec httpd -f -p $PORT -h /www'

  async function create(fields: object): Promise<{ name: string; deploy: string; id: string }> {
    const name = `away-${++count}`
    const { status, body } = await server.api('POST', '/services', { name, ...fields })
    expect(status).toBe(201)
    return { name, id: body.id, deploy: body.latest_deploy.id }
  }

  async function until(deploy: string, said: string): Promise<void> {
    const log = async () => (await server.api('GET', `/deploys/${deploy}/logs`)).body as string
    await waitFor(async () => (await log())?.includes(said), `the log to say "${said}"`)
  }

  test('begins the build again when the engine is back, and goes live', async () => {
    // A different step for each run: the engine's cache would finish it at once.
    const Dockerfile = `FROM busybox:1\nRUN echo begun ${randomUUID()}; sleep 4\nCMD ${SERVE}\n`
    const { name, deploy } = await create({ repo_url: remote.url(await createRepository({ Dockerfile })) })
    await until(deploy, 'begun')
    await door.goAway()
    await until(deploy, 'waiting until it is back')
    expect((await server.api('GET', `/deploys/${deploy}`)).body.status).toBe('building')
    await door.comeBack()
    expect(await endOf(server, deploy)).toMatchObject({ status: 'live', error: null })
    expect((await fetchFrom(server, `${name}.localhost`)).text.trim()).toBe('up')
  })

  test('continues its rollout when the engine is back, and goes live', async () => {
    const { name, deploy } = await create({ image: 'busybox:1', start_command: `sleep 4; ${SERVE}` })
    await until(deploy, 'starting 1 instance')
    await door.goAway()
    await until(deploy, 'waiting until it is back')
    await door.comeBack()
    expect(await endOf(server, deploy)).toMatchObject({ status: 'live', error: null })
    expect((await fetchFrom(server, `${name}.localhost`)).text.trim()).toBe('up')
  })

  test('continues in the new network when its network is removed meanwhile', { tags: ['slow'] }, async () => {
    const { body } = await server.api('POST', '/environments', { name: 'apart' })
    const network = `deployer-${body.id}`
    const fields = { image: 'busybox:1', start_command: `sleep 4; ${SERVE}`, environment: 'apart' }
    const { name, id, deploy } = await create(fields)
    const running = () => docker('ps', '-q', '--filter', `label=deployer.service=${id}`)
    const container = await waitFor(running, 'its program to run')
    door.hold()
    await docker('network', 'disconnect', '-f', network, container)
    await docker('network', 'rm', network)
    await door.comeBack()
    expect(await endOf(server, deploy)).toMatchObject({ status: 'live', error: null })
    expect((await fetchFrom(server, `${name}.apart.localhost`)).text.trim()).toBe('up')
  })

  test('is canceled at once, and leaves nothing once the engine is back', { tags: ['slow'] }, async () => {
    const { id, deploy } = await create({ image: 'busybox:1', start_command: 'sleep 3600' })
    await until(deploy, 'starting 1 instance')
    await waitFor(async () => (await containersOf(id)).length === 1, 'the container')
    await door.goAway()
    await until(deploy, 'waiting until it is back')
    const canceled = await server.api('POST', `/deploys/${deploy}/cancel`)
    expect(canceled).toMatchObject({ status: 200, body: { status: 'canceled' } })
    await door.comeBack()
    await waitFor(async () => (await containersOf(id)).length === 0, 'the container to be gone')
  })
})

test('deleting is answered with 502 and continues when the engine is back', async () => {
  const service = await live()
  await door.goAway()
  expect(await server.api('DELETE', `/services/${service.name}`)).toMatchObject({
    status: 502,
    body: { error: { code: 'runtime_error' } },
  })
  expect((await server.api('GET', `/services/${service.name}`)).body.state).toBe('deleting')
  await door.comeBack()
  await waitFor(
    async () => ((await server.api('GET', `/services/${service.name}`)).status === 404 ? true : null),
    'the service to be gone',
  )
  expect(await containersOf(service.id)).toEqual([])
})

test.each([
  ['goes away', () => door.goAway()],
  ['goes away behind a socket that something else holds', async () => door.hold()],
])(
  'a job and a pre-deploy command that end with an engine that %s say so',
  { tags: ['slow'] },
  async (_, leave) => {
    const service = await live()
    const job = (await server.api('POST', `/services/${service.name}/jobs`, { command: 'sleep 600' })).body
    const { body } = await server.api('POST', '/services', {
      name: `away-${++count}`,
      image: 'busybox:1',
      pre_deploy_command: 'sleep 600',
      start_command: 'exec sleep 600',
    })
    const deploy = body.latest_deploy.id as string
    const runs = [job.id as string, `pre-${deploy}`]
    for (const name of runs)
      await waitFor(
        () =>
          docker('inspect', '-f', '{{.State.Running}}', name).then(
            (said) => said === 'true',
            () => false,
          ),
        `${name} to run`,
      )
    await leave()
    // Like an engine that is stopped without being told to leave its containers running.
    await docker('kill', ...runs)
    await door.comeBack()
    const ended = await waitFor(async () => {
      const now = (await server.api('GET', `/jobs/${job.id}`)).body
      return now.status === 'running' ? null : (now as { status: string; error: string })
    }, 'the end of the job')
    const reason = 'ended with exit code 137 while the container engine was stopped or restarted'
    expect(ended).toMatchObject({ status: 'failed', error: `${reason}: run it again` })
    expect(await endOf(server, deploy)).toMatchObject({
      status: 'deploy_failed',
      error: `the pre-deploy command ${reason}`,
    })
  },
)

test(
  'suspending and resuming twice is answered with 200 and changes nothing',
  { tags: ['slow'] },
  async () => {
    const service = await live()
    for (const [path, suspended] of [
      ['/suspend', true],
      ['/resume', false],
    ] as const) {
      expect((await server.api('POST', `/services/${service.name}${path}`)).status).toBe(200)
      const before = (await server.api('GET', `/services/${service.name}`)).body
      const again = await server.api('POST', `/services/${service.name}${path}`)
      expect(again).toMatchObject({ status: 200, body: { suspended, updated_at: before.updated_at } })
      const patched = await server.api('PATCH', `/services/${service.name}`, { suspended })
      expect(patched).toMatchObject({ status: 200, body: { suspended, updated_at: before.updated_at } })
    }
  },
)
