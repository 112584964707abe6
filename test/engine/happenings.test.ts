import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServiceEvent } from '#server/service-events/schema.ts'
import { databaseOf } from '../support/database.ts'
import { startReceiver, toldTo, type Receiver, type Told } from '../support/receiver.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { become, create, type Datastore } from './datastore-support.ts'
import { openDoor, type EngineDoor } from './engine-door.ts'
import { containersOf, docker, endOf, fetchFrom } from './live.ts'

const DAY_MS = 86_400_000
const DOWN_AFTER_MS = 4_000

let door: EngineDoor
let server: TestServer
let receiver: Receiver
let cache: Datastore

beforeAll(async () => {
  door = await openDoor()
  receiver = await startReceiver()
  server = await startServer({
    engine: true,
    flags: ['--docker-host', door.host],
    schedule: { downAfterMs: DOWN_AFTER_MS },
  })
  await waitFor(() => server.logs.includes('reached_by'), 'the engine')
  await server.api('POST', '/notifications', { name: 'all', kind: 'webhook', url: receiver.url })
  const { id } = await create(server, { kind: 'keyvalue', name: 'cache' })
  cache = await become(server, id, 'available')
})
afterAll(async () => {
  door?.refuse(null)
  await server?.stop()
  await door?.close()
  receiver?.close()
})

async function createLive(name: string, fields: object): Promise<string> {
  const { status, body } = await server.api('POST', '/services', { name, image: 'busybox:1', ...fields })
  expect({ status, body }).toMatchObject({ status: 201 })
  expect(await endOf(server, body.latest_deploy.id)).toMatchObject({ status: 'live', error: null })
  return body.id
}

const ofSubject = (type: string, name: string) =>
  toldTo(receiver).filter(
    ({ type: each, data }) => each === type && (data.service ?? data.datastore)?.name === name,
  )

/** The timeline of a service, oldest first. */
const timelineOf = async (id: string): Promise<ServiceEvent[]> =>
  (await server.api('GET', `/services/${id}/events`)).body.reverse()

function told(type: string, name: string): Promise<Told> {
  return waitFor(() => ofSubject(type, name)[0], `${type} of ${name}`)
}

// They wait most of their time.
test.concurrent(
  'a service and a datastore that do not answer are reported once, and once when they answer again',
  async () => {
    const id = await createLive('web', {
      start_command: 'mkdir /www; echo hello > /www/index.html; exec httpd -f -p $PORT -h /www',
    })
    const [instance] = await containersOf(id)
    await docker('pause', instance!, cache.id)
    const [service, datastore] = await Promise.all([
      told('service.down', 'web'),
      told('datastore.down', 'cache'),
    ])
    expect(service.data).toMatchObject({ service: { id }, message: expect.stringContaining('paused') })
    expect(datastore.data).toMatchObject({ datastore: { id: cache.id }, message: expect.any(String) })
    await docker('unpause', instance!, cache.id)
    await Promise.all([told('service.recovered', 'web'), told('datastore.recovered', 'cache')])
    for (const type of ['down', 'recovered'])
      expect([ofSubject(`service.${type}`, 'web'), ofSubject(`datastore.${type}`, 'cache')]).toMatchObject([
        [{}],
        [{}],
      ])
    const types = (await timelineOf(id)).map(({ type }) => type)
    expect(types.slice(0, 3)).toEqual(['service.created', 'deploy.started', 'deploy.succeeded'])
    expect(types.filter((type) => /down|recovered/.test(type))).toEqual(['service.down', 'service.recovered'])
  },
)

test.concurrent('a program that needs more memory than it may use is reported', async () => {
  const id = await createLive('hungry', {
    type: 'background_worker',
    memory_limit_mb: 32,
    start_command:
      'while [ ! -f /tmp/eat ]; do sleep 0.2; done; rm /tmp/eat; held=$(head -c 100m /dev/zero | tr "\\0" x)',
  })
  const [instance] = await containersOf(id)
  await docker('exec', instance!, 'touch', '/tmp/eat')
  expect((await told('service.out_of_memory', 'hungry')).data).toMatchObject({
    service: { id },
    message: expect.stringContaining(instance!),
  })
  // It is killed for memory, and so has not crashed as well.
  expect((await timelineOf(id)).slice(3)).toMatchObject([
    { type: 'service.out_of_memory', instance, actor: null, count: 1 },
  ])
})

test.concurrent('a failed run is reported, a successful one is not', async () => {
  await createLive('runner', { type: 'background_worker', start_command: 'sleep 1000000' })
  for (const command of ['true', 'exit 3']) {
    const { body } = await server.api('POST', '/services/runner/jobs', { command })
    await waitFor(
      async () => ['succeeded', 'failed'].includes((await server.api('GET', `/jobs/${body.id}`)).body.status),
      'its end',
    )
  }
  expect((await told('job.failed', 'runner')).data.job).toMatchObject({ command: 'exit 3', exit_code: 3 })
  expect(ofSubject('job.failed', 'runner')).toHaveLength(1)
  const { body } = await server.api('GET', '/services/runner/events?type=job')
  expect(body).toMatchObject([{ details: { exit_code: 3, job_id: expect.stringMatching(/^job-/) } }])
})

describe('a service that starts again', () => {
  const SERVE = 'mkdir /www; echo hello > /www/index.html; exec httpd -f -p $PORT -h /www'
  const stateOf = async (name: string) => (await server.api('GET', `/services/${name}`)).body.state as string

  type Call = readonly [path: string, body?: object]

  async function isStarting(name: string, end: Call, start: Call): Promise<void> {
    await createLive(name, { start_command: `sleep 4; ${SERVE}` })
    const call = ([path, body]: Call) => server.api('POST', `/services/${name}/${path}`, body)
    expect((await call(end)).status).toBe(200)
    expect(await call(start)).toMatchObject({ status: 200, body: { state: 'deploying' } })
    await expectStarting(name)
    await waitFor(async () => (await stateOf(name)) === 'running', 'it to run')
    expect(await fetchFrom(server, `${name}.localhost`)).toMatchObject({ status: 200, text: 'hello\n' })
    expect([...ofSubject('service.down', name), ...ofSubject('service.recovered', name)]).toEqual([])
  }

  test.concurrent('after resuming says so to its visitors until it is up, and is not reported as down', () =>
    isStarting('waking', ['suspend'], ['resume']),
  )

  test.concurrent('after scaling from 0 says so to its visitors too', { tags: ['slow'] }, () =>
    isStarting('growing', ['scale', { instances: 0 }], ['scale', { instances: 1 }]),
  )

  test.concurrent('and whose program exits each time is down, and reported as such', async () => {
    const id = await createLive('broken', {
      disk_mount_path: '/data',
      start_command: `[ ! -e /data/broken ] || exit 3; ${SERVE}`,
    })
    const [instance] = await containersOf(id)
    await docker('exec', instance!, 'touch', '/data/broken')
    await server.api('POST', '/services/broken/suspend')
    expect((await server.api('POST', '/services/broken/resume')).body.state).toBe('deploying')
    const { data } = await told('service.down', 'broken')
    expect(data.message).toBe('the program ended: exit code 3')
    const events = await timelineOf(id)
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['service.suspended', 'service.resumed', 'service.crashed', 'service.down']),
    )
    const crash = events.find(({ type }) => type === 'service.crashed')!
    expect(crash).toMatchObject({ details: { exit_code: 3 }, deploy_id: expect.stringMatching(/^dep-/) })
    expect(crash.message).toMatch(/^Instance [0-9a-f]{5} ended: exit code 3$/)
    await waitFor(
      async () => (await fetchFrom(server, 'broken.localhost')).status === 502,
      'its visitors to be told',
    )
  })

  test('together with the engine says so too, and is not reported as down', async () => {
    const id = await createLive('engine', { start_command: `sleep 4; ${SERVE}` })
    const [instance] = await containersOf(id)
    door.hold()
    // Like an engine that is stopped without being told to leave its containers running.
    await docker('kill', instance!)
    await door.comeBack()
    await waitFor(async () => (await stateOf('engine')) === 'deploying', 'it to start')
    await expectStarting('engine')
    await waitFor(async () => (await stateOf('engine')) === 'running', 'it to run')
    const { body } = await server.api('GET', '/services/engine/status')
    expect(body.instances).toMatchObject([{ restarts: 1, exit_code: 137 }])
    expect(ofSubject('service.down', 'engine')).toEqual([])
  })

  async function expectStarting(name: string): Promise<void> {
    const { status, text } = await fetchFrom(server, `${name}.localhost`)
    expect({ status, text }).toMatchObject({
      status: 503,
      text: expect.stringMatching(/http-equiv="refresh"[^]*This service is starting/),
    })
  }
})

test('a failed backup is reported with the reason', async () => {
  door.refuse({ line: /^POST \S*\/containers\/create\?\S*name=bak-/, words: 'not now' })
  await server.api('POST', '/datastores/cache/backups')
  const { data } = await told('backup.failed', 'cache')
  expect(data.backup).toMatchObject({ error: expect.stringContaining('not now') })
  door.refuse(null)
})

test('runs that a server has missed for days are reported in one message', { tags: ['slow'] }, async () => {
  await createLive('nightly', { type: 'cron_job', schedule: '0 3 * * *', start_command: 'true' })
  await server.kill('SIGTERM')
  const database = databaseOf(server.dataDirectory)
  database.prepare('UPDATE schedule_marks SET seen_at = seen_at - ?').run(3 * DAY_MS)
  database.close()
  await server.restart()
  await told('job.missed', 'nightly')
  await server.restart()
  await server.api('POST', '/services/runner/jobs', { command: 'exit 4' })
  await waitFor(() => ofSubject('job.failed', 'runner').length === 2, 'a later message')
  expect(ofSubject('job.missed', 'nightly')).toHaveLength(1)
})
