import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRepository, startGitHttp, type GitRemote } from '../stand/git.ts'
import { startServer, type ApiAnswer, type TestServer } from '../support/server.ts'
import { readEvents, type StreamEvent } from '../support/sse.ts'
import { waitFor } from '../support/wait.ts'
import { become } from './datastore-support.ts'
import { endOf, fetchFrom } from './live.ts'

let server: TestServer
let remote: GitRemote
let site: string

beforeAll(async () => {
  server = await startServer({ engine: true })
  remote = await startGitHttp()
  site = remote.url(await createRepository({ 'index.html': 'the site' }))
})
afterAll(async () => {
  await remote?.close()
  await server?.stop()
})

/** A site, a web service, a worker, a cron job, a database and the group that three of them share. */
function project(level: string, answer: string): string {
  return `# yaml-language-server: $schema=${server.url}/api/blueprint.schema.json
env_groups:
  - name: shared
    vars:
      - {key: LEVEL, value: ${level}}
datastores:
  - name: store
    kind: keyvalue
services:
  - name: site
    type: static_site
    repo_url: ${site}
  - &program
    name: web
    type: web_service
    image: busybox:1
    env_groups: [shared]
    start_command: mkdir /tmp/w; echo "${answer} $LEVEL $STORE" > /tmp/w/index.html; exec httpd -f -p $PORT -h /tmp/w
    env:
      - {key: STORE, from_datastore: {name: store, property: host}}
      - {key: TOKEN, generate: true}
  - <<: *program
    name: worker
    type: background_worker
    start_command: echo "$TOKEN_OF_WEB"; sleep 100000
    env:
      - {key: TOKEN_OF_WEB, from_service: {name: web, env_var: TOKEN}}
  - <<: *program
    name: nightly
    type: cron_job
    schedule: 0 3 * * *
    start_command: echo at night
    env: []
`
}

async function apply(yaml: string): Promise<ApiAnswer['body']> {
  const { status, body } = await server.api('POST', '/blueprints/apply', yaml, {
    headers: { 'content-type': 'application/yaml' },
  })
  expect({ status, error: body.error }).toEqual({ status: 200, error: undefined })
  return body
}

async function untilLive({ deploys }: { deploys: { id: string }[] }): Promise<void> {
  for (const { id } of deploys) expect(await endOf(server, id)).toMatchObject({ status: 'live', error: null })
}

function actionsOf({ actions }: ApiAnswer['body']): string[] {
  return actions.map(({ name, action }: { name: string; action: string }) => `${name} ${action}`)
}

test('a project is created, changed and exported through its file on a running system', async () => {
  const first = await apply(project('info', 'one'))
  expect(actionsOf(first)).toEqual([
    'shared create',
    'store create',
    'site create',
    'web create',
    'worker create',
    'nightly create',
  ])
  expect(first.deploys).toHaveLength(4)
  await untilLive(first)
  const { body: store } = await server.api('GET', '/datastores/store')
  await become(server, store.id, 'available')
  expect((await fetchFrom(server, 'web.localhost')).text).toBe('one info store\n')
  expect((await fetchFrom(server, 'site.localhost')).text).toBe('the site')

  const same = await apply(project('info', 'one'))
  expect(new Set(actionsOf(same).map((line) => line.split(' ')[1]))).toEqual(new Set(['unchanged']))
  expect(same.deploys).toEqual([])

  // A change of the group reaches the services linked to it, and nothing else.
  const changed = await apply(project('debug', 'two'))
  expect(changed.actions.filter(({ action }: { action: string }) => action === 'update')).toMatchObject([
    { name: 'shared', changes: ['env.LEVEL: changed'] },
    { name: 'web', changes: [expect.stringMatching(/^start_command: .* -> /)] },
  ])
  expect(changed.deploys).toHaveLength(3)
  await untilLive(changed)
  await waitFor(
    async () => (await fetchFrom(server, 'web.localhost')).text === 'two debug store\n',
    'the changed web service',
  )

  const exported = await server.api('GET', '/blueprints/export')
  expect(exported.headers.get('content-type')).toContain('application/yaml')
  const again = await apply(exported.body as string)
  expect(new Set(actionsOf(again).map((line) => line.split(' ')[1]))).toEqual(new Set(['unchanged']))
  expect(again.deploys).toEqual([])
})

/** Sends a whole request on its own connection and leaves without reading a byte. Resolves when the connection is closed. */
async function sendAndLeave(yaml: string): Promise<number> {
  const { hostname, port } = new URL(server.url)
  const socket = connect({ host: hostname, port: Number(port) })
  await once(socket, 'connect')
  const head = [
    'POST /api/v1/blueprints/apply HTTP/1.1',
    `Host: ${hostname}:${port}`,
    `Authorization: Bearer ${server.token}`,
    'Content-Type: application/yaml',
    `Content-Length: ${Buffer.byteLength(yaml)}`,
  ]
  await new Promise<void>((resolve) => socket.write(`${head.join('\r\n')}\r\n\r\n${yaml}`, () => resolve()))
  // The kernel has all of it now, and delivers it before the end of the connection.
  socket.destroy()
  await once(socket, 'close')
  return performance.now()
}

/** Resolves when the change feed reports that a service was created. */
async function firstCreation(feed: AsyncGenerator<StreamEvent>): Promise<number> {
  for await (const { data } of feed)
    if (data.includes('"service"') && data.includes('"created"')) return performance.now()
  throw new Error('the feed ended')
}

test('a file is applied to the end although its client leaves, in an environment that it creates', async () => {
  // So many that the client is gone long before they are read.
  const others = Array.from(
    { length: 150 },
    (_, at) => `  - {name: other-${at}, image: busybox:1, deploy: false}`,
  )
  const file = `environment: staging
services:
${others.join('\n')}
  - name: alone
    image: busybox:1
    start_command: mkdir /tmp/w; echo hi > /tmp/w/index.html; exec httpd -f -p $PORT -h /tmp/w
`
  const following = new AbortController()
  const feed = readEvents(
    await fetch(`${server.url}/api/v1/events`, {
      headers: { authorization: `Bearer ${server.token}` },
      signal: following.signal,
    }),
  )
  expect((await feed.next()).value).toMatchObject({ event: 'ready' })
  const made = firstCreation(feed)
  const left = await sendAndLeave(file)
  expect(await made).toBeGreaterThan(left)
  following.abort()
  const { body: services } = await server.api('GET', '/services?environment=staging')
  expect(services).toHaveLength(others.length + 1)
  // The last steps of an apply: the network of the environment, and the deploys that follow.
  const { latest_deploy } = (await server.api('GET', '/services/alone?environment=staging')).body
  expect(await endOf(server, latest_deploy.id)).toMatchObject({ status: 'live', error: null })
  expect((await fetchFrom(server, 'alone.staging.localhost')).text).toBe('hi\n')
})
