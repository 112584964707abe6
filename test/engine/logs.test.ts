import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { allEvents, readEvents } from '../support/sse.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { containersOf, docker, endOf } from './live.ts'

const PADDING = 'x'.repeat(90)

interface Line {
  ts: string
  stream: string
  line: string
}

let server: TestServer
/** The one service whose output the tests produce. */
let instance: string

beforeAll(async () => {
  server = await startServer({ engine: true })
  const id = await createLive({ name: 'printer', type: 'background_worker', start_command: 'sleep 1000000' })
  instance = (await containersOf(id))[0]!
})

afterAll(async () => {
  await server?.stop()
})

async function createLive(fields: Record<string, unknown>): Promise<string> {
  const { status, body } = await server.api('POST', '/services', { image: 'busybox:1', ...fields })
  expect({ status, body }).toMatchObject({ status: 201 })
  expect(await endOf(server, body.latest_deploy.id)).toMatchObject({ status: 'live', error: null })
  return body.id
}

/** Names of a service's instances that are not being replaced. */
async function instancesOf(name: string): Promise<string[]> {
  const { instances } = (await server.api('GET', `/services/${name}/status`)).body as {
    instances: { name: string; started_at: string }[]
  }
  return instances
    .toSorted((left, right) => (left.started_at < right.started_at ? -1 : 1))
    .map(({ name: instance }) => instance)
}

function open(path: string, signal?: AbortSignal): Promise<Response> {
  const headers = { authorization: `Bearer ${server.token}` }
  return fetch(`${server.url}/api/v1${path}`, { headers, signal })
}

/** Lines of a log that ends. */
async function whole(path: string): Promise<Line[]> {
  const events = await allEvents(await open(path))
  expect(events.at(-1)?.event).toBe('end')
  return events.filter(({ event }) => event === 'log').map(({ data }) => JSON.parse(data) as Line)
}

interface Following {
  lines: Line[]
  /** The server said that nothing more will come. */
  hasEnd: boolean
  over: boolean
  close: () => void
}

/** Follows a log in the background; resolves when the answer has begun. */
async function follow(path: string): Promise<Following> {
  const abort = new AbortController()
  const response = await open(path, abort.signal)
  expect(response.status).toBe(200)
  const following: Following = { lines: [], hasEnd: false, over: false, close: () => abort.abort() }
  const read = async () => {
    for await (const { event, data } of readEvents(response))
      if (event === 'log') following.lines.push(JSON.parse(data) as Line)
      else if (event === 'end') following.hasEnd = true
  }
  void read()
    .catch(() => {})
    .finally(() => (following.over = true))
  return following
}

/** Lets the service's program print what a command prints. */
function print(command: string): Promise<string> {
  return docker('exec', instance, 'sh', '-c', `(${command}) > /proc/1/fd/1`)
}

const outputOf = (lines: Line[]) => lines.filter(({ stream }) => stream !== 'system').map(({ line }) => line)

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => String(from + index))

/** How many lines the follower was told that it missed. */
function lostOf(lines: Line[]): number {
  return lines
    .filter(({ stream }) => stream === 'system')
    .map(({ line }) => Number(/^(\d+) lines? (?:was|were) lost here/.exec(line)?.[1] ?? 0))
    .reduce((sum, count) => sum + count, 0)
}

describe('the log of a job', () => {
  async function run(command: string): Promise<string> {
    const { status, body } = await server.api('POST', '/services/printer/jobs', { command })
    expect(status).toBe(202)
    return body.id
  }

  test(
    'keeps 100,000 lines that are printed at once, beyond the size at which the engine rotates its own log',
    { tags: ['slow'] },
    async () => {
      const id = await run(`seq 1 100000 | sed "s/$/ ${PADDING.slice(0, 60)}/"`)
      const lines = outputOf(await whole(`/jobs/${id}/logs?follow`))
      expect(lines.map((line) => line.split(' ')[0])).toEqual(numbers(1, 100_000))
    },
  )

  test("is cut at 20 MiB, says how much is missing, and still takes the server's lines", async () => {
    const id = await run(`seq 1 200000 | sed "s/$/ ${PADDING}/"; exit 3`)
    const lines = await whole(`/jobs/${id}/logs?follow`)
    const kept = outputOf(lines)
    expect(kept.map((line) => line.split(' ')[0])).toEqual(numbers(1, kept.length))
    const said = lines.filter(({ stream }) => stream === 'system').map(({ line }) => line)
    expect(said).toContainEqual(expect.stringContaining('the log is cut off here'))
    expect(said).toContain(`${200_000 - kept.length} lines were left out here: the log is full`)
    expect(said.at(-1)).toBe('ended with exit code 3')
  })

  test('has no line twice and none missing after the server was killed in the middle of it', async () => {
    const id = await run('for n in $(seq 1 300); do seq $((n * 100 - 99)) $((n * 100)); sleep 0.02; done')
    for (const reached of [2_000, 10_000, 20_000]) {
      await waitFor(async () => outputOf(await whole(`/jobs/${id}/logs`)).length > reached, 'lines')
      await server.kill('SIGKILL')
      await server.restart()
    }
    expect(outputOf(await whole(`/jobs/${id}/logs?follow`))).toEqual(numbers(1, 30_000))
  })
})

describe('the change feed', () => {
  test('reports each status of a deploy and of a job, as it comes', async () => {
    const abort = new AbortController()
    const told: Record<string, string>[] = []
    const feed = await open('/events', abort.signal)
    const read = async () => {
      for await (const { event, data } of readEvents(feed))
        if (event === 'change') told.push(JSON.parse(data))
    }
    void read().catch(() => {})
    const actions = (kind: string, id: string) =>
      told.filter((change) => change.kind === kind && change.id === id).map(({ action }) => action)
    const deploy = (await server.api('POST', '/services/printer/deploys')).body
    expect(await endOf(server, deploy.id)).toMatchObject({ status: 'live' })
    const job = (await server.api('POST', '/services/printer/jobs', { command: 'true' })).body
    await waitFor(
      async () => (await server.api('GET', `/jobs/${job.id}`)).body.status === 'succeeded',
      'the job',
    )
    // Queued, building, deploying, live; pending, running, succeeded: each at least once.
    await waitFor(() => actions('job', job.id).length >= 3, 'its changes')
    expect(actions('deploy', deploy.id).slice(0, 2)).toEqual(['created', 'updated'])
    expect(actions('deploy', deploy.id).length).toBeGreaterThanOrEqual(3)
    expect(actions('job', job.id).slice(0, 3)).toEqual(['created', 'updated', 'updated'])
    expect(told.find(({ id }) => id === job.id)).toMatchObject({ service_id: deploy.service_id })
    abort.abort()
    instance = (await instancesOf('printer')).at(-1)!
  })
})

describe('the log of a deploy', () => {
  test('has what a program printed before it was ready, however soon that was', async () => {
    const id = await createLive({
      name: 'quick',
      start_command: 'echo printed; exec httpd -f -p $PORT -h /tmp',
    })
    const { body } = await server.api('GET', `/services/${id}`)
    const lines = (await whole(`/deploys/${body.latest_deploy.id}/logs`)).map(({ line }) => line)
    expect(lines).toContain('printed')
    expect(lines.indexOf('printed')).toBeLessThan(lines.indexOf('live'))
  })

  test('that was cut still says what the server did afterwards', async () => {
    const id = await createLive({
      name: 'chatty',
      type: 'background_worker',
      start_command: 'sleep 1000000',
      pre_deploy_command: `seq 1 200000 | sed "s/$/ ${PADDING}/"`,
    })
    const { body } = await server.api('GET', `/services/${id}`)
    const lines = await whole(`/deploys/${body.latest_deploy.id}/logs`)
    const cut = lines.findIndex(({ line }) => line.startsWith('the log is cut off here'))
    const after = lines.slice(cut + 1).map(({ stream, line }) => `${stream} ${line}`)
    expect(cut).toBeGreaterThan(0)
    expect(after[0]).toMatch(/^system \d+ lines were left out here/)
    expect(after.length).toBeGreaterThan(1)
    expect(after.every((line) => line.startsWith('system'))).toBe(true)
  })
})

describe('a follower of a service', () => {
  test('that joins without old lines gets every line from the beginning of its answer on', async () => {
    for (let round = 0; round < 5; round++) {
      const following = await follow('/services/printer/logs?follow&tail=0')
      await print('seq 1 25')
      await waitFor(() => following.lines.length >= 25, 'the lines')
      expect(outputOf(following.lines)).toEqual(numbers(1, 25))
      following.close()
    }
  })

  test('that joins a busy program has no line twice and none missing where old and new meet', async () => {
    await docker('exec', instance, 'rm', '-f', '/tmp/enough')
    const printing = print(
      'n=0; while [ ! -f /tmp/enough ]; do seq $((n * 20 + 1)) $((n * 20 + 20)); n=$((n + 1)); done; echo done',
    )
    await waitFor(
      async () => Number(outputOf(await whole('/services/printer/logs?tail=1'))[0]) > 10_000,
      'its first lines',
    )
    const followed = await Promise.all(
      [0, 1, 10, 500, 5_000].map((tail) => follow(`/services/printer/logs?follow&tail=${tail}`)),
    )
    await docker('exec', instance, 'touch', '/tmp/enough')
    await printing
    for (const { lines, close } of followed) {
      await waitFor(() => lines.at(-1)?.line === 'done', 'the last line')
      close()
      const got = outputOf(lines).slice(0, -1).map(Number)
      expect(got.every((number, index) => index === 0 || number > got[index - 1]!)).toBe(true)
      // On a busy machine the program may be faster than its lines can be kept, which is reported.
      expect(got.length + lostOf(lines)).toBe(got.at(-1)! - got[0]! + 1)
    }
  })

  test(
    'of a program that prints 200,000 lines at once gets each, or is told how many it has missed',
    { tags: ['slow'] },
    async () => {
      const following = await follow('/services/printer/logs?follow&tail=0')
      await print(`seq 1 200000 | sed "s/$/ ${PADDING}/"; echo done`)
      await waitFor(() => following.lines.at(-1)?.line === 'done', 'the last line')
      following.close()
      const got = outputOf(following.lines)
        .slice(0, -1)
        .map((line) => Number(line.split(' ')[0]))
      expect(got.length + lostOf(following.lines)).toBe(200_000)
      expect(got.every((number, index) => index === 0 || number > got[index - 1]!)).toBe(true)
    },
  )

  test('that does not read is told what it has missed, and delays neither the program nor another', async () => {
    const abort = new AbortController()
    const sleeping = await open('/services/printer/logs?follow&tail=0', abort.signal)
    const awake = await follow('/services/printer/logs?follow&tail=0')
    await print(`seq 1 300000 | sed "s/$/ ${PADDING}/"; echo done`)
    await waitFor(() => awake.lines.at(-1)?.line === 'done', 'the last line')
    awake.close()
    const late: Line[] = []
    for await (const { data, event } of readEvents(sleeping)) {
      if (event === 'log') late.push(JSON.parse(data) as Line)
      if (late.at(-1)?.line === 'done') break
    }
    abort.abort()
    expect(lostOf(late)).toBeGreaterThan(0)
    expect(outputOf(late).length - 1 + lostOf(late)).toBe(300_000)
  })

  test(
    'gets the output of a program that exits at once and is started again and again',
    { tags: ['slow'] },
    async () => {
      const id = await createLive({
        name: 'looping',
        type: 'background_worker',
        start_command: 'echo begin; sleep 4; echo end',
      })
      const following = await follow('/services/looping/logs?follow')
      await waitFor(() => outputOf(following.lines).filter((line) => line === 'end').length >= 2, 'two runs')
      const lines = outputOf(following.lines)
      expect(lines.slice(0, 4)).toEqual(['begin', 'end', 'begin', 'end'])
      expect((await server.api('DELETE', `/services/${id}`)).status).toBe(204)
      await waitFor(() => following.over, 'the end of the stream')
    },
  )

  test('is one of hundreds that share one reader, and all get every line', { tags: ['slow'] }, async () => {
    const followers = await Promise.all(
      Array.from({ length: 300 }, () => follow('/services/printer/logs?follow&tail=0')),
    )
    await print('seq 1 50')
    expect((await server.api('GET', '/info')).status).toBe(200)
    await waitFor(() => followers.every(({ lines }) => lines.length >= 50), 'all lines')
    for (const { lines, close } of followers) {
      expect(outputOf(lines)).toEqual(numbers(1, 50))
      close()
    }
  })
})

describe('the output of a service', () => {
  test('is read by its tail, followed across a deploy, and cut without an end event when the service is deleted', async () => {
    const version = 'echo out one; echo err two >&2; echo "version $V"; sleep 1000000'
    const id = await createLive({
      name: 'versions',
      type: 'background_worker',
      start_command: version,
      env: [{ key: 'V', value: '1' }],
    })
    const path = '/services/versions/logs'
    const all = await whole(path)
    expect(all.map(({ stream, line }) => [stream, line]).sort()).toEqual([
      ['stderr', 'err two'],
      ['stdout', 'out one'],
      ['stdout', 'version 1'],
    ])
    expect(all[0]).toEqual({
      ts: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      stream: expect.any(String) as string,
      line: expect.any(String) as string,
      instance: expect.stringMatching(new RegExp(`^${id}-[0-9a-f]{5}$`)) as string,
    })
    expect(await whole(`${path}?tail=0`)).toEqual([])
    expect(await whole(`${path}?tail=1`)).toHaveLength(1)

    const following = await follow(`${path}?follow&tail=0`)
    await server.api('PATCH', '/services/versions/env?restart', { set: { V: '2' } })
    await waitFor(() => outputOf(following.lines).includes('version 2'), 'the new version')
    expect(following.over).toBe(false)
    expect((await server.api('DELETE', '/services/versions')).status).toBe(204)
    await waitFor(() => following.over, 'the stream to be cut')
    expect(following.hasEnd).toBe(false)
    expect((await server.api('GET', path)).status).toBe(404)
  })
})
