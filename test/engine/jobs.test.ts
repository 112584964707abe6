import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { databaseOf } from '../support/database.ts'
import { allEvents } from '../support/sse.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { containersOf, docker, endOf } from './live.ts'

/** A schedule that does not come due while the tests run. */
const NEVER = '0 0 29 2 *'

interface Job {
  id: string
  status: string
  trigger: string
  command: string | null
  exit_code: number | null
  error: string | null
  started_at: string | null
}

let server: TestServer

beforeAll(async () => {
  server = await startServer({ engine: true })
  await createLive({
    name: 'web',
    start_command:
      'mkdir -p /tmp/www && echo hello > /tmp/www/index.html && exec httpd -f -p $PORT -h /tmp/www',
    env: [{ key: 'COLOUR', value: 'blue' }],
  })
})

afterAll(async () => {
  await server?.stop()
})

async function createLive(fields: Record<string, unknown>): Promise<string> {
  const { status, body } = await server.api('POST', '/services', { image: 'busybox:1', ...fields })
  expect(status).toBe(201)
  expect(await endOf(server, body.latest_deploy.id)).toMatchObject({ status: 'live', error: null })
  return body.id
}

async function start(service: string, command?: string): Promise<Job> {
  const { status, body } = await server.api(
    'POST',
    `/services/${service}/jobs`,
    command === undefined ? {} : { command },
  )
  expect({ status, body }).toMatchObject({ status: 202, body: { trigger: 'manual' } })
  return body
}

async function job(id: string): Promise<Job> {
  return (await server.api('GET', `/jobs/${id}`)).body
}

function until(id: string, ...statuses: string[]): Promise<Job> {
  return waitFor(
    async () => {
      const found = await job(id)
      return statuses.includes(found.status) ? found : null
    },
    `${id} to be ${statuses.join(' or ')}`,
  )
}

const ended = (id: string) => until(id, 'succeeded', 'failed', 'canceled')

async function logOf(id: string, query = '?follow'): Promise<string[]> {
  const response = await fetch(`${server.url}/api/v1/jobs/${id}/logs${query}`, {
    headers: { authorization: `Bearer ${server.token}` },
  })
  const events = await allEvents(response)
  expect(events.at(-1)?.event).toBe('end')
  return events
    .filter(({ event }) => event === 'log')
    .map(({ data }) => JSON.parse(data) as { stream: string; line: string })
    .filter(({ stream }) => stream !== 'system')
    .map(({ line }) => line)
}

async function untilGone(id: string): Promise<void> {
  await waitFor(
    async () => (await docker('ps', '-aq', '--filter', `name=${id}`)) === '',
    'its container to be gone',
  )
}

describe('a one-off job', () => {
  test('runs its command with the variables of the service, keeps its output and leaves no container', async () => {
    const { id, command } = await start(
      'web',
      'echo $COLOUR $PORT; echo $DEPLOYER_SERVICE_NAME $DEPLOYER_INSTANCE_ID >&2',
    )
    expect(command).toMatch(/^echo/)
    expect(await logOf(id)).toEqual(expect.arrayContaining(['blue 10000', `web ${id}`]))
    expect(await ended(id)).toMatchObject({ status: 'succeeded', exit_code: 0, error: null })
    await untilGone(id)
    expect((await server.api('GET', '/services/web/jobs')).body[0]).toMatchObject({ id, status: 'succeeded' })
  })

  test('that fails reports its exit code and the last of its output', async () => {
    const { id } = await start('web', 'echo one; echo two >&2; exit 7')
    expect(await ended(id)).toMatchObject({
      status: 'failed',
      exit_code: 7,
      error: expect.stringMatching(/exit code 7[\s\S]*two/) as string,
    })
  })

  test('reaches the services of its environment by name', async () => {
    await createLive({
      name: 'inner',
      type: 'private_service',
      start_command:
        'mkdir -p /tmp/www && echo inside > /tmp/www/index.html && exec httpd -f -p $PORT -h /tmp/www',
    })
    const { id } = await start('web', 'wget -qO- http://inner:10000/')
    expect(await logOf(id)).toEqual(['inside'])
    expect((await ended(id)).exit_code).toBe(0)
  })

  test('has an address in the last quarter of the network', async () => {
    const { id } = await start('web', "ip -4 -o addr show dev eth0 | awk '{print $4}'")
    const [cidr = ''] = await logOf(id)
    expect(Number(cidr.split('.')[2]) % 16).toBeGreaterThanOrEqual(12)
    await ended(id)
  })

  test('prints everything before its log ends, however fast it comes', async () => {
    const { id } = await start('web', 'seq 1 20000')
    const lines = await logOf(id)
    expect(lines).toHaveLength(20_000)
    expect(lines.at(-1)).toBe('20000')
  })

  test('that is canceled is killed at once', async () => {
    const { id } = await start('web', "trap '' TERM; echo up; while true; do sleep 1; done")
    await until(id, 'running')
    await waitFor(async () => (await logOf(id, '')).includes('up'), 'its first line')
    const canceled = await server.api('POST', `/jobs/${id}/cancel`)
    expect(canceled).toMatchObject({ status: 200, body: { status: 'canceled', error: null } })
    await untilGone(id)
    expect((await server.api('POST', `/jobs/${id}/cancel`)).status).toBe(200)
    expect((await job(id)).exit_code).toBeNull()
  })

  test('that uses more memory than its limit says so', async () => {
    await createLive({
      name: 'small',
      type: 'background_worker',
      start_command: 'sleep 1000000',
      memory_limit_mb: 16,
    })
    const { id } = await start('small', 'exec tail /dev/zero')
    expect(await ended(id)).toMatchObject({
      status: 'failed',
      exit_code: 137,
      error: expect.stringContaining('ran out of memory') as string,
    })
    expect((await server.api('POST', `/jobs/${id}/cancel`)).status).toBe(409)
  })

  test(
    'of which a part exceeds its memory limit ends with its own exit code, like a pre-deploy command',
    { tags: ['slow'] },
    async () => {
      const command = 'tail /dev/zero || echo handled'
      await createLive({
        name: 'partly',
        type: 'background_worker',
        start_command: 'sleep 1000000',
        pre_deploy_command: command,
        memory_limit_mb: 16,
      })
      const { body } = await server.api('GET', '/services/partly')
      const log = (await server.api('GET', `/deploys/${body.live_deploy_id}/logs`)).body as string
      expect(log).toMatch(/handled[^]*ran out of memory .*exit code 0/)
      const { id } = await start('partly', command)
      expect(await ended(id)).toMatchObject({ status: 'succeeded', exit_code: 0, error: null })
      expect((await server.api('GET', `/jobs/${id}/logs`)).body).toMatch(/ran out of memory: .*exit code 0/)
    },
  )

  test('whose program is missing says so', async () => {
    const { id } = await start('web', 'no-such-program')
    expect(await ended(id)).toMatchObject({ status: 'failed', exit_code: 127 })
  })
})

describe('a cron job', () => {
  test('is live without instances and runs its command when its minute comes', async () => {
    await createLive({
      name: 'minutely',
      type: 'cron_job',
      schedule: '* * * * *',
      start_command: 'echo tick',
    })
    expect((await server.api('GET', '/services/minutely')).body.state).toBe('idle')
    const run = await waitFor(
      async () => (await server.api('GET', '/services/minutely/jobs')).body[0] as Job | undefined,
      'its first run',
    )
    expect(run.trigger).toBe('schedule')
    expect(await ended(run.id)).toMatchObject({ status: 'succeeded', command: 'echo tick' })
    expect(await logOf(run.id)).toEqual(['tick'])
    // Within a second if the machine is not busy with other tests.
    expect(new Date((await job(run.id)).started_at!).getUTCSeconds()).toBeLessThan(30)
    expect((await server.api('DELETE', '/services/minutely')).status).toBe(204)
    expect((await server.api('GET', `/jobs/${run.id}`)).status).toBe(404)
  })

  test('that is run by hand waits for the run before it, and a third run is refused', async () => {
    await createLive({
      name: 'slow',
      type: 'cron_job',
      schedule: NEVER,
      start_command: 'sleep 3; echo $TEXT',
      env: [{ key: 'TEXT', value: 'old' }],
    })
    const first = await start('slow')
    await until(first.id, 'running')
    const second = await start('slow')
    expect((await server.api('POST', '/services/slow/jobs')).status).toBe(409)
    const oneOff = await start('slow', 'echo $TEXT')
    await server.api('PATCH', '/services/slow/env', { set: { TEXT: 'new' } })
    expect((await ended(oneOff.id)).exit_code).toBe(0)
    expect((await job(second.id)).status).toBe('pending')
    expect(await logOf(first.id)).toEqual(['old'])
    expect(await logOf(oneOff.id)).toEqual(['old'])
    expect(await logOf(second.id)).toEqual(['new'])
  })
})

describe('when the server stops while jobs run', () => {
  test('a job continues, and its log has every line once', async () => {
    const { id } = await start('web', 'for n in $(seq 1 60); do echo line $n; sleep 0.2; done')
    await waitFor(async () => (await logOf(id, '')).length > 5, 'some lines')
    await server.kill('SIGKILL')
    await server.restart()
    const lines = await logOf(id)
    expect(lines).toEqual(Array.from({ length: 60 }, (_, index) => `line ${index + 1}`))
    expect(await ended(id)).toMatchObject({ status: 'succeeded', exit_code: 0 })
  })

  test('a job runs once, however soon after its start that is', { tags: ['slow'] }, async () => {
    for (let round = 0; round < 4; round++) {
      const { id } = await start('web', 'echo once')
      await until(id, 'running')
      await server.kill('SIGKILL')
      await server.restart()
      expect(await ended(id)).toMatchObject({ status: 'succeeded', error: null })
      expect(await logOf(id)).toEqual(['once'])
    }
  })

  test('a job whose container is gone after the start fails, and says why', async () => {
    const { id } = await start('web', 'sleep 1000')
    await until(id, 'running')
    await waitFor(async () => (await docker('ps', '-q', '--filter', `name=${id}`)) !== '', 'its container')
    await server.kill('SIGKILL')
    await docker('rm', '-f', id)
    await server.restart()
    expect(await ended(id)).toMatchObject({
      status: 'failed',
      exit_code: null,
      error: expect.stringContaining('its container is gone') as string,
    })
  })

  test('one of the missed runs is made up', { tags: ['slow'] }, async () => {
    await createLive({ name: 'missed', type: 'cron_job', schedule: '* * * * *', start_command: 'echo late' })
    const runs = async () => (await server.api('GET', '/services/missed/jobs')).body as Job[]
    await server.kill('SIGTERM')
    const database = databaseOf(server.dataDirectory)
    database.exec('DELETE FROM jobs')
    database.exec(`UPDATE schedule_marks SET seen_at = ${Date.now() - 10 * 60_000}`)
    database.close()
    await server.restart()
    const made = await waitFor(async () => (await runs()).at(-1), 'the run that was missed')
    expect(await ended(made.id)).toMatchObject({ status: 'succeeded', trigger: 'schedule' })
    // At most a minute has begun since.
    expect((await runs()).length).toBeLessThanOrEqual(2)
  })
})

describe('a service that is deleted', () => {
  test('takes its jobs and their containers with it', async () => {
    const id = await createLive({
      name: 'leaving',
      type: 'background_worker',
      start_command: 'sleep 1000000',
    })
    const running = await start('leaving', 'sleep 1000')
    await until(running.id, 'running')
    expect((await server.api('DELETE', '/services/leaving')).status).toBe(204)
    expect(await containersOf(id)).toEqual([])
    expect((await server.api('GET', `/jobs/${running.id}`)).status).toBe(404)
  })
})
