import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { storedLine, type LogLine } from '#server/logs/lines.ts'
import type { LogHistogram, ServiceLogLine } from '#server/logs/schema.ts'
import { readEvents } from '../support/sse.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { Browser, refusal } from './account-client.ts'

const MINUTE_MS = 60_000
/** Everything happened some minutes before this, and within what the histogram counts by default. */
const NOW = Date.now()

let server: TestServer
let browser: Browser
const ids: Record<string, string> = {}

beforeAll(async () => {
  server = await startServer()
  browser = await new Browser(server.url).setUp(server.setupCode)
  await server.api('POST', '/environments', { name: 'staging' })
  for (const [name, environment] of [
    ['web', 'production'],
    ['api', 'production'],
    ['quiet', 'production'],
    ['web', 'staging'],
  ] as const) {
    ids[environment === 'staging' ? 'staged' : name] = await create(name, environment)
  }
  keep('web', [
    said(30, 'ERROR the oldest', { instance: `${ids.web}-aaaaa` }),
    said(20, 'GET /orders', { instance: `${ids.web}-bbbbb` }),
    said(10, 'no level\u202e here', { stream: 'stderr', instance: `${ids.web}-aaaaa` }),
  ])
  keep('api', [said(25, '{"level":40,"msg":"slow /orders"}'), said(5, 'the newest')])
  keep('staged', [said(15, 'staged')])
})
afterAll(() => server.stop())

/** Creates a service whose requests are lines of its log. Returns its id. */
async function create(name: string, environment = 'production'): Promise<string> {
  const { status, body } = await server.api('POST', '/services', { name, environment, deploy: false })
  expect(status).toBe(201)
  // Without an engine, the data plane hears of a new service with its first change.
  await server.api('PATCH', `/services/${body.id}`, { access_log: true })
  return body.id
}

/** A time so many minutes ago, as a query has it. */
const ago = (minutes: number) => new Date(NOW - minutes * MINUTE_MS).toISOString()

const said = (minutesAgo: number, line: string, more: Partial<LogLine> = {}): LogLine => ({
  ts: ago(minutesAgo),
  stream: 'stdout',
  line,
  ...more,
})

/** Stores lines as an earlier run of the server would have. */
function keep(service: string, lines: LogLine[]): void {
  const directory = join(server.dataDirectory, 'logs', 'services', ids[service]!)
  mkdirSync(directory, { recursive: true })
  const day = new Date(NOW).toISOString().slice(0, 'yyyy-mm-dd'.length)
  writeFileSync(join(directory, `${'0'.repeat(15)}.${day}.ndjson`), lines.map(storedLine).join(''))
}

function linesIn(text: string): ServiceLogLine[] {
  return [...text.matchAll(/^event: log\ndata: (.*)$/gm)].map(([, data]) => JSON.parse(data!))
}

async function lines(query = '', collection = '/logs'): Promise<ServiceLogLine[]> {
  const { status, body } = await server.api('GET', `${collection}?${query}`)
  expect([status, body]).toEqual([200, expect.stringMatching(/event: end\ndata:\n\n$/)])
  return linesIn(body)
}

const texts = async (query: string) => (await lines(query)).map(({ line }) => line)

test('lines of an environment come merged by time, each with where it comes from and its level', async () => {
  const found = await lines()
  expect(found.map(({ service, level, line }) => [service, level, line])).toEqual([
    ['web', 'error', 'ERROR the oldest'],
    ['api', 'warn', '{"level":40,"msg":"slow /orders"}'],
    ['web', 'info', 'GET /orders'],
    ['web', 'error', 'no level\u202e here'],
    ['api', 'info', 'the newest'],
  ])
  expect(found[0]).toEqual({
    ...said(30, 'ERROR the oldest', { instance: `${ids.web}-aaaaa` }),
    ...{ service_id: ids.web, service: 'web', level: 'error' },
  })
  expect(await texts('environment=staging')).toEqual(['staged'])
})

test('services are named by id, by name, and by name with environment', async () => {
  expect(await texts('service=api')).toEqual(['{"level":40,"msg":"slow /orders"}', 'the newest'])
  expect(await texts(`service=${ids.staged},api&tail=2`)).toEqual(['staged', 'the newest'])
  expect(await texts('service=web.staging,quiet')).toEqual(['staged'])
  expect(await texts('service=web&environment=staging')).toEqual(['staged'])
  expect(await texts(`service=web.staging,${ids.staged}`)).toEqual(['staged'])
})

test('every filter leaves out what does not match', async () => {
  expect(await texts('level=warn')).toEqual(['{"level":40,"msg":"slow /orders"}'])
  expect(await texts('level=warn,error&tail=2')).toEqual([
    ...['{"level":40,"msg":"slow /orders"}', 'no level\u202e here'],
  ])
  expect(await texts('search=ORDERS')).toEqual(['{"level":40,"msg":"slow /orders"}', 'GET /orders'])
  expect(await texts('search=/^GET%20.*s$/')).toEqual(['GET /orders'])
  expect(await texts('stream=stderr')).toEqual(['no level\u202e here'])
  expect(await texts('instance=aaaaa')).toEqual([])
  expect(await texts(`since=${ago(12)}`)).toEqual(['no level\u202e here', 'the newest'])
  expect(await texts(`since=${ago(27)}&until=${ago(12)}`)).toEqual([
    '{"level":40,"msg":"slow /orders"}',
    'GET /orders',
  ])
  expect(await texts('since=1d&until=2s&service=api&tail=1')).toEqual(['the newest'])
  expect(await texts('tail=0')).toEqual([])
  const own = (await lines('level=error', '/services/web/logs')).map(({ line }) => line)
  expect(own).toEqual(['ERROR the oldest', 'no level\u202e here'])
})

test('a histogram counts what the filters let through, by time and level', async () => {
  const count = async (query: string): Promise<LogHistogram> => {
    const { status, body } = await server.api('GET', `/logs/histogram?${query}`)
    expect([status, body.complete]).toEqual([200, true])
    return body
  }
  const sums = ({ buckets }: LogHistogram) =>
    (['debug', 'info', 'warn', 'error'] as const).map((level) =>
      buckets.reduce((sum, bucket) => sum + bucket[level], 0),
    )
  const hour = await count('')
  expect(hour.step_seconds).toBe(60 * 2)
  expect(sums(hour)).toEqual([0, 2, 1, 2])
  const at = Math.floor((NOW - 5 * MINUTE_MS) / 120_000) * 120_000
  expect(hour.buckets.find((bucket) => Date.parse(bucket.at) === at)?.info).toBe(1)
  expect(sums(await count(`level=error&service=web&since=${ago(12)}&buckets=4`))).toEqual([0, 0, 0, 1])
  // Nothing is older than logs are kept, so an absurd range is the whole log.
  const all = await count('since=1970-01-01T00:00:00Z&until=2999-01-01T00:00:00Z&buckets=1000')
  expect(all.buckets.length).toBeLessThanOrEqual(300)
  expect(sums(all)).toEqual([0, 2, 1, 2])
})

test.each([
  ['level=loud', /^level: must be one or more of debug, info, warn, error/],
  ['service=web,', /^service: must be 1 to 100 ids or names/],
  [`service=${Array.from({ length: 101 }, (_, at) => `s${at}`).join()}`, /^service: must be 1 to 100/],
  ['search=/(/', /^search: /],
  ['since=1h&until=2h', /^until: must be later than since/],
  ['since=yesterday', /^since: must be a time/],
  ['service=web&service=api', /^service: given more than once/],
])('%s is refused, with the reason', async (query, message) => {
  for (const path of ['/logs', '/logs/histogram']) {
    const answer = await server.api('GET', `${path}?${query}`)
    expect(answer).toMatchObject(refusal(400, 'invalid_request'))
    expect(answer.body.error.message).toMatch(message)
  }
})

test('what is followed has no end, and what is counted lies in the past', async () => {
  const refused = async (path: string) => (await server.api('GET', path)).body.error.message as string
  expect(await refused('/logs?follow&until=1m')).toMatch(/^until: cannot be followed/)
  expect(await refused('/logs/histogram?since=2999-01-01T00:00:00Z')).toMatch(/^since: must be earlier/)
  expect(await refused('/logs/histogram?buckets=many')).toMatch(/^buckets: must be a whole number/)
})

test.each([
  'service=nobody',
  'environment=nowhere',
  'deploy=dep-00000000000000000000',
  'service=web.nowhere',
])('%s does not exist', async (query) => {
  expect(await server.api('GET', `/logs?${query}`)).toMatchObject(refusal(404, 'not_found'))
  expect(await server.api('GET', `/logs/histogram?${query}`)).toMatchObject(refusal(404, 'not_found'))
})

/** Follows logs in the background. */
async function follow(query: string, token = server.token) {
  const left = new AbortController()
  const response = await fetch(`${server.url}/api/v1/logs?follow&${query}`, {
    headers: { authorization: `Bearer ${token}` },
    signal: left.signal,
  })
  expect(response.status).toBe(200)
  const stream = { lines: [] as ServiceLogLine[], over: false, leave: () => left.abort() }
  const read = async () => {
    for await (const { event, data } of readEvents(response))
      if (event === 'log') stream.lines.push(JSON.parse(data) as ServiceLogLine)
  }
  void read()
    .catch(() => {})
    .finally(() => (stream.over = true))
  return stream
}

/** Requests to a service are lines of its log. */
async function visit(host: string): Promise<void> {
  const [response] = (await once(
    get({
      ...{ host: '127.0.0.1', port: server.httpPort, path: '/visit', agent: false },
      headers: { host: `${host}.localhost` },
    }),
    'response',
  )) as [IncomingMessage]
  response.resume()
}

test('following shows new lines of every service that matches, later ones too', async () => {
  const all = await follow('tail=1')
  const some = await follow('service=api,web&tail=0&search=/vis.t/&level=error')
  await waitFor(() => all.lines.length > 0, 'the newest stored line')
  expect(all.lines.map(({ line }) => line)).toEqual(['the newest'])
  await create('later')
  const visited = () => new Set(all.lines.slice(1).map(({ service }) => service))
  await waitFor(async () => {
    for (const name of ['web', 'later', 'web-staging']) await visit(name)
    return visited().size >= 2
  }, 'lines of both services')
  expect([...visited()].toSorted()).toEqual(['later', 'web'])
  await waitFor(() => some.lines.length > 0, 'a request that failed')
  expect(some.lines[0]).toMatchObject({ stream: 'access', service: 'web', level: 'error' })
  await server.api('PATCH', '/services/later', { name: 'renamed' })
  await waitFor(async () => {
    await visit('renamed')
    return visited().has('renamed')
  }, 'a line under the new name')
  expect([all.over, some.over]).toEqual([false, false])
  all.leave()
  some.leave()
})

test('a restricted token reads and follows only its own services, until it is revoked', async () => {
  const access = { mode: 'read', services: [ids.web] }
  const { body: created } = await browser.post('/auth/tokens', { name: 'web only', access })
  const ask = (path: string) =>
    server.request('GET', `/api/v1${path}`, undefined, {
      headers: { authorization: `Bearer ${created.token}` },
    })
  const { body } = await ask('/logs')
  expect(new Set(linesIn(body).map(({ service }) => service))).toEqual(new Set(['web']))
  const { body: histogram } = await ask('/logs/histogram')
  expect(histogram.buckets.reduce((sum: number, { warn }: { warn: number }) => sum + warn, 0)).toBe(0)
  for (const query of ['service=api', `service=web,${ids.api}`, 'environment=staging'])
    expect(await ask(`/logs?${query}`)).toMatchObject(refusal(404, 'not_found'))
  const stream = await follow('tail=0', created.token)
  await waitFor(async () => {
    await visit('api')
    await visit('web')
    return stream.lines.length > 0
  }, 'a line of its own service')
  expect(stream.lines.every(({ service }) => service === 'web')).toBe(true)
  await browser.delete(`/auth/tokens/${created.api_token.id}`)
  await waitFor(() => stream.over, 'the end of the stream')
})
