import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startReceiver, toldTo, type Receiver } from '../support/receiver.ts'
import { startServer, type ApiAnswer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { endOf } from './live.ts'

let server: TestServer
let receiver: Receiver
/** A web server that answers nothing, and a test of it, which takes as long as the server waits. */
let silent: Server
let silence: string
let givenUp: Promise<ApiAnswer>
let mailServer: SMTPServer
const mails: { to: string[]; text: string }[] = []

beforeAll(async () => {
  receiver = await startReceiver()
  mailServer = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    onAuth: ({ username, password }, _session, done) =>
      username === 'user' && password === 'secret' ? done(null, { user: 'user' }) : done(new Error('wrong')),
    onData: (stream, session, done) =>
      void text(stream).then((mail) => {
        mails.push({ to: session.envelope.rcptTo.map(({ address }) => address), text: mail })
        done()
      }),
  })
  const mailPort = await listening(mailServer.listen(0, '127.0.0.1'))
  server = await startServer({
    engine: true,
    flags: ['--smtp-url', `smtp://user:secret@127.0.0.1:${mailPort}`, '--smtp-from', 'deployer@example.com'],
    env: { DEPLOYER_SERVER_NAME: 'prod 1' },
  })
  silent = createServer(() => {})
  silence = `http://127.0.0.1:${await listening(silent.listen(0, '127.0.0.1'))}/`
  const { id } = await create({ kind: 'webhook', url: silence })
  givenUp = server.api('POST', `/notifications/${id}/test`)
})

afterAll(async () => {
  await server?.stop()
  receiver?.close()
  silent?.closeAllConnections()
  silent?.close()
  mailServer?.close()
})

/** Deploys that were begun; their messages belong to the test that began them. */
const begun: string[] = []

beforeEach(async () => {
  for (const id of begun.splice(0)) await endOf(server, id)
  const { body } = await server.api('GET', '/notifications')
  for (const { id } of body as { id: string }[]) await server.api('DELETE', `/notifications/${id}`)
  receiver.received = []
  receiver.answer = { status: 200 }
})

async function listening(listener: {
  address(): unknown
  once(event: string, done: () => void): unknown
}): Promise<number> {
  await once(listener as unknown as Server, 'listening')
  return (listener.address() as AddressInfo).port
}

async function create(input: Record<string, unknown>) {
  const { status, body } = await server.api('POST', '/notifications', { name: 'n', ...input })
  expect({ status, body }).toMatchObject({ status: 201 })
  return body as { id: string; secret: string | null; url: string | null }
}

/** A deploy that fails, because nothing answers where its repository should be. */
async function failingDeploy(name: string, environment = 'production'): Promise<string> {
  const { body, status } = await server.api('POST', '/services', {
    name,
    environment,
    repo_url: 'http://127.0.0.1:9/x.git',
  })
  expect({ status, body }).toMatchObject({ status: 201 })
  begun.push(body.latest_deploy.id)
  return body.latest_deploy.id
}

const typesOf = () => toldTo(receiver).map(({ type }) => type)

test('a webhook reports each change once, signed as Standard Webhooks requires', async () => {
  const { id, secret } = await create({ kind: 'webhook', url: `${receiver.url}/hook` })
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/)
  const deploy = await failingDeploy('told')
  await waitFor(() => typesOf().includes('deploy.failed'), 'the message')
  expect(typesOf()).toEqual(['deploy.started', 'deploy.failed'])
  const { headers, body } = receiver.received[1]!
  expect(JSON.parse(body)).toMatchObject({
    type: 'deploy.failed',
    server: 'prod 1',
    data: {
      service: { name: 'told', environment: 'production' },
      deploy: { id: deploy, status: 'build_failed' },
    },
  })
  const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`
  const key = Buffer.from(secret!.slice('whsec_'.length), 'base64')
  expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
  const deliveries = (await server.api('GET', `/notifications/${id}/deliveries`)).body
  expect(deliveries).toMatchObject([
    {
      id: headers['webhook-id'],
      type: 'deploy.failed',
      status: 'delivered',
      attempts: [{ status: 200, error: null }],
    },
    { type: 'deploy.started', status: 'delivered', next_attempt_at: null },
  ])
  expect((await server.api('GET', `/notifications/${id}`)).body).not.toHaveProperty('secret')
})

test('events, environments and services choose what is reported', async () => {
  await server.api('POST', '/environments', { name: 'staging' })
  await endOf(server, await failingDeploy('chosen'))
  await create({ kind: 'webhook', url: `${receiver.url}/events`, events: ['deploy.failed'] })
  await create({ kind: 'webhook', url: `${receiver.url}/staging`, environment: 'staging' })
  await create({
    kind: 'webhook',
    url: `${receiver.url}/service`,
    services: ['chosen'],
    events: ['deploy.failed'],
  })
  const off = await create({ kind: 'webhook', url: `${receiver.url}/off` })
  expect((await server.api('PATCH', `/notifications/${off.id}`, { enabled: false })).body.enabled).toBe(false)
  await failingDeploy('other', 'staging')
  begun.push((await server.api('POST', '/services/chosen/deploys')).body.id)
  const count = (path: string) => receiver.received.filter((each) => each.path === path).length
  await waitFor(
    () => count('/staging') === 2 && count('/service') === 1 && count('/events') === 2,
    'the messages',
  )
  expect(count('/off')).toBe(0)
})

test('Slack, Discord and ntfy get their formats, and their URLs are not shown completely', async () => {
  const slack = await create({
    kind: 'slack',
    url: `${receiver.url}/services/T0/B0/secretpart`,
    events: ['deploy.failed'],
  })
  expect(slack.url).toBe(`${receiver.url}/***part`)
  await create({
    kind: 'discord',
    url: `${receiver.url}/api/webhooks/1/secretpart`,
    events: ['deploy.failed'],
  })
  await create({ kind: 'ntfy', url: `${receiver.url}/my-topic`, events: ['deploy.failed'] })
  await failingDeploy('chats')
  await waitFor(() => receiver.received.length === 3, 'the messages')
  const at = (path: string) =>
    JSON.parse(receiver.received.find((each) => each.path === path)!.body) as Record<string, unknown>
  expect(at('/services/T0/B0/secretpart').text).toMatch(/^\*prod 1: Deploy of chats failed\*\n/)
  expect(at('/api/webhooks/1/secretpart')).toMatchObject({
    content: expect.stringMatching(/^prod 1: Deploy of chats failed\n/),
    allowed_mentions: { parse: [] },
  })
  expect(at('/')).toMatchObject({ topic: 'my-topic', title: 'prod 1: Deploy of chats failed', priority: 4 })
  // The shown value may be sent back, and changes nothing.
  await server.api('PATCH', `/notifications/${slack.id}`, { url: slack.url, name: 'renamed' })
  expect((await server.api('POST', `/notifications/${slack.id}/test`)).body).toEqual({
    ok: true,
    status: 200,
    error: null,
  })
  expect(receiver.received.at(-1)!.path).toBe('/services/T0/B0/secretpart')
})

test('e-mail reaches a mail server', async () => {
  const { id } = await create({
    kind: 'email',
    to: ['ops@example.com', 'dev@example.com'],
    events: ['deploy.failed'],
  })
  await failingDeploy('mailed')
  await waitFor(() => mails.length === 1, 'the mail')
  expect(mails[0]!.to).toEqual(['ops@example.com', 'dev@example.com'])
  expect(mails[0]!.text).toMatch(/^Subject: prod 1: Deploy of mailed failed\r?$/m)
  const { body } = await server.api('GET', `/notifications/${id}/deliveries`)
  expect(mails[0]!.text).toContain(`Message-ID: <${body[0].id}@example.com>`)
  expect((await server.api('POST', `/notifications/${id}/test`)).body).toMatchObject({ ok: true })
})

test('a redirect is not followed', async () => {
  receiver.answer = { status: 302, headers: { location: `${receiver.url}/elsewhere` } }
  const { id } = await create({ kind: 'webhook', url: `${receiver.url}/hook` })
  const { body } = await server.api('POST', `/notifications/${id}/test`)
  expect(body).toEqual({ ok: false, status: 302, error: 'answered 302: redirects are not followed' })
  expect(receiver.received).toHaveLength(1)
})

test('a target that never answers delays no other, and is given up in time', async () => {
  await create({ kind: 'webhook', url: silence, events: ['deploy.failed'] })
  await create({ kind: 'webhook', url: `${receiver.url}/quick`, events: ['deploy.failed'] })
  await failingDeploy('hanging')
  await waitFor(() => receiver.received.length === 1, 'the message to the other')
  expect((await givenUp).body).toEqual({ ok: false, status: null, error: 'no answer within 15 s' })
})

test('a refused message is sent again with the same id, also after the server was killed', async () => {
  receiver.answer = { status: 503 }
  const { id } = await create({ kind: 'webhook', url: `${receiver.url}/hook`, events: ['deploy.failed'] })
  await failingDeploy('again')
  await waitFor(() => receiver.received.length === 1, 'the first attempt')
  const delivery = async () => (await server.api('GET', `/notifications/${id}/deliveries`)).body[0]
  await waitFor(async () => (await delivery()).attempts.length === 1, 'the record of it')
  expect(await delivery()).toMatchObject({
    status: 'pending',
    attempts: [{ status: 503, error: 'answered 503: {"said":"so"}' }],
    next_attempt_at: expect.any(String),
  })
  await server.kill('SIGKILL')
  receiver.answer = { status: 204 }
  await server.restart()
  await waitFor(() => receiver.received.length === 2, 'the second attempt')
  expect(receiver.received[1]!.headers['webhook-id']).toBe(receiver.received[0]!.headers['webhook-id'])
  await waitFor(async () => (await delivery()).status === 'delivered', 'the record of it')
})

test.each([
  [{ kind: 'webhook', url: 'http://169.254.169.254/latest/meta-data' }, 'url'],
  [{ kind: 'webhook', url: 'http://[::ffff:a9fe:a9fe]/' }, 'url'],
  [{ kind: 'webhook', url: 'http://2852039166/' }, 'url'],
  [{ kind: 'webhook', url: 'http://[fe80::1]/' }, 'url'],
  [{ kind: 'slack', url: 'https://metadata.google.internal/' }, 'url'],
  [{ kind: 'webhook', url: 'ftp://example.com/' }, 'url'],
  [{ kind: 'webhook', url: 'nothing' }, 'url'],
  [{ kind: 'webhook' }, 'url'],
  [{ kind: 'ntfy', url: 'https://ntfy.sh/' }, 'url'],
  [{ kind: 'email' }, 'to'],
  [{ kind: 'email', to: ['a@example.com\r\nBcc: b@example.com'] }, 'to'],
  [{ kind: 'email', to: ['a@example.com'], url: 'http://127.0.0.1/' }, 'url'],
  [{ kind: 'webhook', url: 'http://127.0.0.1/', to: ['a@example.com'] }, 'to'],
  [{ kind: 'webhook', url: 'http://127.0.0.1/', events: ['deploy.sideways'] }, 'events'],
  [{ kind: 'webhook', url: 'http://127.0.0.1/', events: [] }, 'events'],
  [{ kind: 'webhook', url: 'http://127.0.0.1/', name: 'a\nb' }, 'name'],
  [{ kind: 'pigeon', url: 'http://127.0.0.1/' }, 'kind'],
])('refuses %j', async (input, field) => {
  const { status, body } = await server.api('POST', '/notifications', { name: 'n', ...input })
  expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'invalid_request' })
  expect(body.error.message).toMatch(new RegExp(`^${field}`))
})

test('an environment or a service that is not there is not found', async () => {
  for (const filter of [{ environment: 'nowhere' }, { services: ['nobody'] }]) {
    const { status } = await server.api('POST', '/notifications', {
      name: 'n',
      kind: 'webhook',
      url: `${receiver.url}/`,
      ...filter,
    })
    expect(status).toBe(404)
  }
})
