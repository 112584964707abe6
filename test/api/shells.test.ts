import { text } from 'node:stream/consumers'
import type { IncomingMessage } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { WebSocket, type ClientOptions } from 'ws'
import { AccessWorld } from './access-world.ts'

const SIZE = { rows: 24, cols: 80 }
/** Of no shell. */
const ID = 'shl-4f1d0c9a7b3e5d2f6a80'
const TICKET = '4f1d0c9a7b3e5d2f6a80'.repeat(3)

let world: AccessWorld

beforeAll(async () => {
  world = await AccessWorld.create()
})
afterAll(() => world.server.stop())

const open = (path: string, fields: object = {}) => world.server.api('POST', path, { ...SIZE, ...fields })

it('is refused for a size out of range, for unknown fields, and for an instance together with a fresh container', async () => {
  const path = `/services/${world.ours.service}/shells`
  const wrong = [
    { rows: 0 },
    { rows: 1_001 },
    { cols: 1.5 },
    { cols: '80' },
    { command: ' ' },
    { command: 'a\0b' },
    { instance: '' },
    { instance: 'srv-1', fresh: true },
    { tty: true },
  ]
  for (const fields of wrong) {
    const { status, body } = await open(path, fields)
    expect({ fields, status, code: body.error?.code }).toEqual({
      fields,
      status: 400,
      code: 'invalid_request',
    })
  }
  expect(await open(`/datastores/${world.ours.datastore}/shells`, { command: 'sh' })).toMatchObject({
    status: 400,
  })
})

it('is refused for what does not exist or does not run, and says what to do', async () => {
  await world.server.api('POST', '/services', { name: 'never-live', image: 'busybox:1', deploy: false })
  const refused = (status: number, message: RegExp) => ({
    status,
    body: { error: { message: expect.stringMatching(message) as string } },
  })
  expect(await open('/services/nobody/shells')).toMatchObject(refused(404, /there is no service nobody/))
  expect(await open('/services/never-live/shells')).toMatchObject(refused(409, /deploy it first/))
  expect(await open('/services/never-live/shells', { fresh: true })).toMatchObject(
    refused(409, /deploy it first/),
  )
  expect(await open('/services/never-live/shells', { instance: world.theirs.service })).toMatchObject(
    refused(404, /has no instance/),
  )
  await world.server.api('POST', '/services', { name: 'brochure', type: 'static_site' })
  const { body: deploy } = await world.server.api('POST', '/services/brochure/deploys', { sample: 'site' })
  world.sql('UPDATE deploys SET site_id = id WHERE id = ?', deploy.id)
  world.sql('UPDATE services SET live_deploy_id = ?2 WHERE id = ?1', deploy.service_id, deploy.id)
  for (const fields of [{}, { fresh: true }])
    expect(await open('/services/brochure/shells', fields)).toMatchObject(
      refused(409, /is served from files and has no program to run/),
    )
  world.sql("UPDATE datastores SET status = 'unavailable' WHERE id = ?", world.ours.datastore)
  expect(await open(`/datastores/${world.ours.datastore}/shells`)).toMatchObject(
    refused(409, /is unavailable: try again once it is available/),
  )
})

it('takes a token that may do everything and sees secrets, for what it reaches', async () => {
  const paths = [`/services/${world.ours.service}/shells`, `/datastores/${world.ours.datastore}/shells`]
  const ask = async (access: Parameters<AccessWorld['token']>[0]) => {
    const token = await world.token(access)
    return Promise.all(
      paths.map(async (path) => {
        const { status, text } = await world.ask(token, 'POST', path, SIZE)
        return [status, (JSON.parse(text) as { error: { code: string } }).error.code]
      }),
    )
  }
  const forbidden = [403, 'forbidden']
  const all = (answer: unknown[]) => paths.map(() => answer)
  expect(await ask({ mode: 'read' })).toEqual(all(forbidden))
  expect(await ask({ mode: 'deploy', secrets: true })).toEqual(all(forbidden))
  expect(await ask({ mode: 'full', secrets: false })).toEqual(all(forbidden))
  expect(await ask({ mode: 'full', secrets: true, environments: ['production'] })).toEqual(
    all([404, 'not_found']),
  )
  // They are found, and do not run.
  expect(await ask({ mode: 'full', secrets: true, environments: ['staging'] })).toEqual(
    all([409, 'conflict']),
  )
  const [event] = (await world.server.api('GET', '/audit-events?action=shell.opened&limit=1')).body
  expect(event).toMatchObject({ outcome: 'refused', actor: { kind: 'token' } })
})

/** How a WebSocket is refused. */
async function refusal(path: string, options: ClientOptions = {}): Promise<[number, string]> {
  const url = `${world.server.url.replace('http', 'ws')}/api/v1${path}`
  const socket = new WebSocket(url, 'deployer.shell.v1', options).on('error', () => {})
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    socket.once('unexpected-response', (_, answer) => resolve(answer))
    socket.once('open', () => reject(new Error('it was opened')))
  })
  return [response.statusCode!, (JSON.parse(await text(response)) as { error: { code: string } }).error.code]
}

it('is connected to by a WebSocket with a valid ticket, not from a page of another site', async () => {
  const path = `/shells/${ID}/socket?ticket=${TICKET}`
  expect(await refusal(path)).toEqual([401, 'unauthorized'])
  expect(await refusal(path, { headers: { authorization: `Bearer ${world.server.token}` } })).toEqual([
    401,
    'unauthorized',
  ])
  expect(await refusal(path, { origin: 'http://other.example' })).toEqual([403, 'cross_site_request'])
  expect(await refusal(path, { origin: 'null' })).toEqual([403, 'cross_site_request'])
  expect(await refusal(`/shells/${ID}/socket`)).toEqual([400, 'invalid_request'])
  expect(await refusal(`${path}&ticket=${TICKET}`)).toEqual([400, 'invalid_request'])
  expect((await world.server.request('GET', `/api/v1${path}`)).status).toBe(426)
})
