import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { LogLine } from '#server/logs/lines.ts'
import { startReceiver } from '../support/receiver.ts'
import { allEvents, readEvents, type StreamEvent } from '../support/sse.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { Browser, EMAIL, PASSWORD, refusal } from './account-client.ts'

let server: TestServer

beforeAll(async () => {
  server = await startServer()
  await server.request('POST', '/api/v1/auth/setup', {
    code: server.setupCode,
    email: EMAIL,
    password: PASSWORD,
  })
})
afterAll(() => server.stop())

function open(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${server.token}` }
  return fetch(`${server.url}/api/v1${path}`, { headers, ...init })
}

interface Followed {
  events: StreamEvent[]
  response: Response
  /** True when the stream has ended or was cut. */
  over: boolean
  close(): void
}

/** Reads a stream in the background, as the server token. */
function follow(path: string): Promise<Followed> {
  return followed(path, { authorization: `Bearer ${server.token}` })
}

/** Reads a stream in the background, with the credentials of these headers. */
async function followed(path: string, headers: Record<string, string>): Promise<Followed> {
  const abort = new AbortController()
  const response = await open(path, { headers, signal: abort.signal })
  const stream: Followed = { events: [], response, over: false, close: () => abort.abort() }
  const read = async () => {
    for await (const event of readEvents(response)) stream.events.push(event)
  }
  void read()
    .catch(() => {})
    .finally(() => (stream.over = true))
  return stream
}

interface Change {
  kind: string
  id: string
  service_id: string | null
  action: string
}

/** What the change feed reports during `work`, up to the creation of a service that marks its end. */
async function changesOf(work: () => Promise<unknown>): Promise<Change[]> {
  const feed = await follow('/events')
  try {
    await waitFor(() => feed.events[0]?.event === 'ready', 'ready')
    await work()
    const marker = (await server.api('POST', '/services', { name: `marker-${crypto.randomUUID()}` })).body.id
    const told = () => feed.events.slice(1).map(({ data }) => JSON.parse(data) as Change)
    await waitFor(() => told().some(({ id }) => id === marker), 'the mark')
    expect(feed.events.slice(1).every(({ event }) => event === 'change')).toBe(true)
    return told().slice(
      0,
      told().findIndex(({ id }) => id === marker),
    )
  } finally {
    feed.close()
  }
}

let made = 0

async function create(fields: object = {}): Promise<{ id: string; latest_deploy: { id: string } }> {
  return (await server.api('POST', '/services', { name: `one-${++made}`, ...fields })).body
}

describe('the change feed', () => {
  it('begins with ready and is not kept by a cache', async () => {
    const feed = await follow('/events')
    await waitFor(() => feed.events.length > 0, 'an event')
    expect(feed.events[0]).toEqual({ event: 'ready', data: '{}' })
    expect(feed.response.headers.get('content-type')).toBe('text/event-stream')
    expect(feed.response.headers.get('cache-control')).toBe('no-store')
    expect(feed.response.headers.get('access-control-allow-origin')).toBeNull()
    feed.close()
  })

  it('reports one change for each write', async () => {
    let id = ''
    const changes = await changesOf(async () => {
      ;({ id } = await create())
      await server.api('PATCH', `/services/${id}`, { branch: 'next', port: 8_080 })
      await server.api('PUT', `/services/${id}/env`, { vars: [{ key: 'A', value: '1' }] })
      await server.api('PATCH', `/services/${id}/env`, { set: { B: '2' } })
      await server.api('POST', `/services/${id}/deploy-hook/rotate`)
    })
    const service = { kind: 'service', id, service_id: id }
    expect(changes).toEqual([
      { ...service, action: 'created' },
      ...Array.from({ length: 4 }, () => ({ ...service, action: 'updated' })),
    ])
  })

  it('reports env groups, domains and datastores by their own ids, and not as changes of a service', async () => {
    let ids: string[] = []
    const changes = await changesOf(async () => {
      const group = await server.api('POST', '/env-groups', { name: 'told', vars: [] })
      const domain = await server.api('POST', '/domains', { name: 'told.example.com' })
      const datastore = await server.api('POST', '/datastores', { name: 'told', kind: 'keyvalue' })
      ids = [group, domain, datastore].map(({ body }) => body.id as string)
      await server.api('PATCH', '/env-groups/told/env', { set: { A: '1' } })
      await server.api('DELETE', '/env-groups/told')
      await server.api('DELETE', '/domains/told.example.com')
      await server.api('DELETE', '/datastores/told')
    })
    const of = (id: string) =>
      changes.filter((change) => change.id === id).map(({ action, ...rest }) => ({ ...rest, action }))
    const [group, domain, datastore] = ids
    const told = (kind: string, id: string) => (action: string) => ({ kind, id, service_id: null, action })
    expect(of(group!)).toEqual(['created', 'updated', 'deleted'].map(told('env_group', group!)))
    expect(of(domain!)[0]).toEqual(told('domain', domain!)('created'))
    expect(of(domain!).at(-1)).toEqual(told('domain', domain!)('deleted'))
    expect(of(datastore!)[0]).toEqual(told('datastore', datastore!)('created'))
    expect(of(datastore!).every(({ kind, service_id }) => kind === 'datastore' && service_id === null)).toBe(
      true,
    )
  })

  it('reports a new deploy, and a change of the one that it replaces', async () => {
    const { id, latest_deploy } = await create({ image: 'busybox:1' })
    let newer = ''
    const changes = await changesOf(async () => {
      newer = (await server.api('POST', `/services/${id}/deploys`)).body.id
    })
    expect(changes.filter(({ kind }) => kind === 'deploy')).toEqual([
      { kind: 'deploy', id: latest_deploy.id, service_id: id, action: 'updated' },
      { kind: 'deploy', id: newer, service_id: id, action: 'created' },
    ])
  })

  it('reports a canceled deploy once; canceling it again reports nothing', async () => {
    const { id, latest_deploy } = await create({ image: 'busybox:1' })
    const cancel = () => server.api('POST', `/deploys/${latest_deploy.id}/cancel`)
    const first = await changesOf(cancel)
    expect(first).toContainEqual({ kind: 'deploy', id: latest_deploy.id, service_id: id, action: 'updated' })
    expect(first.filter(({ kind }) => kind === 'deploy')).toHaveLength(1)
    expect(await changesOf(cancel)).toEqual([])
  })

  it('reports nothing for a refused request or one that only reads', async () => {
    const { id } = await create({ image: 'busybox:1', deploy: false })
    const changes = await changesOf(async () => {
      const requests: [string, string, unknown?][] = [
        ['POST', '/services', { name: 'BAD' }],
        ['POST', '/services', { name: `one-${made}` }],
        ['PATCH', `/services/${id}`, { port: 0 }],
        ['PATCH', `/services/${id}`, { type: 'private_service' }],
        ['PUT', `/services/${id}/env`, { vars: [{ key: '1', value: '' }] }],
        ['POST', `/services/${id}/restart`],
        ['POST', `/services/${id}/rollback`, { deploy_id: 'dep-00000000000000000000' }],
        ['POST', `/services/${id}/deploys`, { commit: 'abcd' }],
        ['POST', `/services/${id}/deploys/upload`, 'x'],
        ['POST', `/services/${id}/scale`, { instances: -1 }],
        ['DELETE', '/services/nobody'],
        ['GET', `/services/${id}`],
        ['GET', `/services/${id}/env`],
      ]
      for (const [method, path, body] of requests) await server.api(method, path, body)
      await server.request('POST', `/hooks/deploy/${id}?key=wrong`)
      await server.request('POST', '/api/v1/services', { name: 'nobody' })
    })
    expect(changes).toEqual([])
  })

  it('gives every follower every change', async () => {
    const feeds = await Promise.all(Array.from({ length: 5 }, () => follow('/events')))
    await waitFor(() => feeds.every(({ events }) => events.length > 0), 'ready')
    const { id } = await create()
    const tells = ({ data }: StreamEvent) => (JSON.parse(data) as Change).id === id
    await waitFor(() => feeds.every(({ events }) => events.some(tells)), 'the change')
    for (const feed of feeds) feed.close()
  })

  it("accepts the token in the query, as browsers' event sources send it", async () => {
    const abort = new AbortController()
    const url = `${server.url}/api/v1/events?access_token=${server.token}`
    const response = await fetch(url, { signal: abort.signal })
    expect(response.status).toBe(200)
    abort.abort()
  })

  it('is cut when the server stops, and a follower that stays does not delay that', async () => {
    const feed = await follow('/events')
    await waitFor(() => feed.events.length > 0, 'ready')
    await server.kill('SIGTERM')
    await waitFor(() => feed.over, 'the end of the stream')
    expect(feed.events.map(({ event }) => event)).toEqual(['ready'])
    await server.restart()
  })
})

describe("the server's own log", () => {
  interface Entry {
    ts: string
    level: string
    target: string
    message: string
    fields: object
  }

  async function read(query: string): Promise<Entry[]> {
    const events = await allEvents(await open(`/server/logs${query}`))
    expect(events.at(-1)).toEqual({ event: 'end', data: '' })
    expect(events.slice(0, -1).every(({ event }) => event === 'log')).toBe(true)
    return events.slice(0, -1).map(({ data }) => JSON.parse(data) as Entry)
  }

  /** Writes one line of the level warn. */
  function failToSignIn(): Promise<unknown> {
    return server.request('POST', '/api/v1/auth/login', { email: EMAIL, password: 'wrong password' })
  }

  it('is read completely, with exactly the documented fields, and ends', async () => {
    const entries = await read('')
    expect(entries.length).toBeGreaterThan(0)
    for (const entry of entries) {
      expect(Object.keys(entry).sort()).toEqual(['fields', 'level', 'message', 'target', 'ts'])
      expect(entry.ts).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    }
  })

  it.each([
    ['?tail=0', 0],
    ['?tail=1', 1],
    ['?tail=2', 2],
  ])('is cut to its last lines: %s', async (query, count) => {
    await failToSignIn()
    await failToSignIn()
    // The server may log something between two reads.
    await waitFor(async () => {
      const all = await read('')
      return isDeepStrictEqual(await read(query), all.slice(all.length - count))
    }, 'the last lines of the whole log')
  })

  it('is limited to a level and above', async () => {
    await failToSignIn()
    const levels = (entries: Entry[]) => [...new Set(entries.map(({ level }) => level))].sort()
    expect(levels(await read('?level=debug'))).toEqual(['info', 'warn'])
    expect(levels(await read('?level=warn'))).toEqual(['warn'])
    expect(await read('?level=error')).toEqual([])
    expect(await read('?level=warn&tail=1')).toHaveLength(1)
  })

  it('is followed without an end, new lines as they come', async () => {
    const followed = await follow('/server/logs?follow&tail=0&level=warn')
    await new Promise((resolve) => setTimeout(resolve, 50))
    await failToSignIn()
    await waitFor(() => followed.events.length > 0, 'the line')
    expect(followed.events[0]!.event).toBe('log')
    expect(JSON.parse(followed.events[0]!.data)).toMatchObject({ level: 'warn' })
    expect(followed.over).toBe(false)
    followed.close()
  })
})

describe('a stream', () => {
  it.each([
    '/server/logs?tail=-1',
    '/server/logs?tail=x',
    '/server/logs?tail=1.5',
    '/server/logs?tail=',
    '/server/logs?level=fatal',
    '/server/logs?level=WARN',
    '/server/logs?follow=maybe',
    '/server/logs?lines=5',
    '/events?since=1',
    '/services/nobody/logs?tail=-1',
    '/deploys/dep-00000000000000000000/logs?follow=2',
    '/deploys/dep-00000000000000000000/logs?tail=5',
  ])('with a bad query is a JSON error before it begins: %s', async (path) => {
    expect(await server.api('GET', path)).toMatchObject(refusal(400, 'invalid_request'))
  })

  it.each(['/services/nobody/logs', '/deploys/dep-00000000000000000000/logs'])(
    'of nothing is a JSON error before it begins: %s',
    async (path) => {
      const answer = await server.api('GET', path)
      expect(answer).toMatchObject(refusal(404, 'not_found'))
      expect(answer.headers.get('cache-control')).toBe('no-store')
    },
  )

  it('answers HEAD with only its head', async () => {
    for (const path of ['/events', '/server/logs?follow']) {
      const response = await open(path, {
        method: 'HEAD',
        headers: { authorization: `Bearer ${server.token}` },
      })
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    }
  })

  it('that nobody reads any more is closed', async () => {
    const before = await server.api('GET', '/info')
    for (let round = 0; round < 50; round++) (await follow('/events')).close()
    await create()
    expect((await server.api('GET', '/info')).status).toBe(before.status)
  })

  it('has no event ids', async () => {
    expect(await (await open('/server/logs?tail=5')).text()).not.toMatch(/^id/m)
  })

  it('says that it is alive while nothing happens', async () => {
    const followed = await follow('/server/logs?follow&tail=0&level=error')
    await waitFor(() => followed.events.some(({ comment }) => comment === 'keep-alive'), 'a comment')
    followed.close()
  })

  it('ends at once with its token', async () => {
    const browser = new Browser(server.url)
    await browser.signIn()
    const { api_token, token } = (await browser.post('/auth/tokens', { name: 'short' })).body
    const own = await followed('/events', { authorization: `Bearer ${token}` })
    const other = await follow('/events')
    await waitFor(() => own.events.length > 0 && other.events.length > 0, 'both streams')
    await browser.delete(`/auth/tokens/${api_token.id}`)
    // Sooner than the next keep-alive, which checks too.
    await waitFor(() => own.over, 'its end', 5_000)
    expect(other.over).toBe(false)
    other.close()
  })

  it.each([
    ['the sign-out', (browser: Browser) => browser.post('/auth/logout')],
    [
      'a changed password',
      async () => {
        const another = new Browser(server.url)
        await another.signIn()
        await another.post('/auth/password', { current_password: PASSWORD, new_password: PASSWORD })
      },
    ],
  ])('ends at once with its session: %s', async (_, end) => {
    const browser = new Browser(server.url)
    await browser.signIn()
    const stream = await followed('/server/logs?follow&tail=0', { cookie: browser.cookie! })
    expect(stream.response.status).toBe(200)
    await end(browser)
    await waitFor(() => stream.over, 'its end', 5_000)
  })
})

describe('an access log', () => {
  /** Requests a path of a host from the data plane; resolves when the answer has ended. */
  async function visit(host: string, path: string): Promise<void> {
    const [answer] = (await once(
      get({ port: server.httpPort, host: '127.0.0.1', path, headers: { host }, agent: false }),
      'response',
    )) as [IncomingMessage]
    await once(answer.resume(), 'end')
  }

  const lines = (events: StreamEvent[]) =>
    events.filter(({ event }) => event === 'log').map(({ data }) => JSON.parse(data) as LogLine)

  const kept = async (query: string) => lines(await allEvents(await open(`/services/visited/logs?${query}`)))

  it('has the requests of a service that asks for one, with filters and followed, and drains send it', async () => {
    const receiver = await startReceiver()
    onTestFinished(() => receiver.close())
    await server.api('POST', '/services', { name: 'visited', deploy: false })
    await server.api('POST', '/log-drains', { kind: 'http', name: 'archive', url: receiver.url })
    const host = 'visited.localhost'
    await visit(host, '/before')
    const live = await follow('/services/visited/logs?follow&stream=access&search=%2Fshop')
    await server.api('PATCH', '/services/visited', { access_log: true })
    await visit(host, '/shop?access_token=hidden%22value&page=2')
    await visit(host, '/other')
    await waitFor(() => live.events.length === 1, 'the line')
    live.close()
    const [line] = lines(live.events)
    expect(line).toMatchObject({ stream: 'access', ts: expect.any(String) })
    expect(JSON.parse(line!.line)).toMatchObject({
      ...{ method: 'GET', host, path: '/shop?access_token=***&page=2', status: 503, ip: '127.0.0.1' },
    })
    await waitFor(async () => (await kept('stream=access')).length === 2, 'both')
    const all = await kept('')
    expect(all.filter(({ stream }) => stream === 'access')).toEqual(await kept('stream=access'))
    expect(await kept('stream=access&search=other')).toHaveLength(1)
    expect(await kept('stream=access&search=before')).toEqual([])
    expect(await kept(`stream=access&until=${line!.ts}`)).toEqual([])
    expect((await server.api('GET', '/services/visited/logs?stream=nothing')).status).toBe(400)
    const drained = () => receiver.received.map(({ body }) => body).join('')
    await waitFor(() => drained().includes('/other'), 'the lines at the drain')
    expect(
      drained()
        .trimEnd()
        .split('\n')
        .map((each) => JSON.parse(each) as LogLine),
    ).toContainEqual(expect.objectContaining({ ...line, service: 'visited', environment: 'production' }))
    await server.api('PATCH', '/services/visited', { access_log: false })
  })
})
