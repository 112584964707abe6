import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { builtServer } from '../support/build.ts'
import { McpHost } from '../support/mcp.ts'
import { AccessWorld } from './access-world.ts'

/** What is open with a token that ended must end within this time. */
const ENDS_WITHIN_MS = 5_000
const FULL = { mode: 'full', secrets: true, environments: null, services: null }

let world: AccessWorld
beforeAll(async () => {
  world = await AccessWorld.create()
})
afterAll(() => world?.server.stop())

async function records(): Promise<{ id: string; name: string; access: object }[]> {
  return (await world.browser.get('/auth/tokens')).body
}

describe('a new token', () => {
  test('may do everything unless it says otherwise, and is listed with what it may', async () => {
    const plain = await world.browser.post('/auth/tokens', { name: 'plain' })
    expect(plain.body.api_token.access).toEqual(FULL)
    const same = await world.browser.post('/auth/tokens', { name: 'same', access: FULL })
    expect(same.body.api_token.access).toEqual(FULL)
    const { service, environment_id } = world.ours
    const access = { mode: 'deploy', environments: ['staging', environment_id], services: [service, service] }
    const narrow = await world.browser.post('/auth/tokens', { name: 'narrow', access })
    expect(narrow.body.api_token.access).toEqual({
      ...{ mode: 'deploy', secrets: false },
      ...{ environments: [environment_id], services: [service] },
    })
    expect((await records()).find(({ name }) => name === 'narrow')).toEqual(narrow.body.api_token)
  })

  test.each([
    [400, { mode: 'write' }],
    [400, {}],
    [400, { mode: 'read', secrets: 'no' }],
    [400, { mode: 'read', environments: [] }],
    [400, { mode: 'read', services: ['goat-web'] }],
    [400, { mode: 'read', paths: ['/services'] }],
    [404, { mode: 'read', environments: ['nowhere'] }],
    [404, { mode: 'read', services: ['srv-00000000000000000000'] }],
  ])('is refused with %i for %j, and nothing is saved', async (status, access) => {
    const before = await records()
    const { status: answered, body } = await world.browser.post('/auth/tokens', { name: 'bad', access })
    expect([answered, body.error.message]).toEqual([status, expect.stringMatching(/^access\b/)])
    expect(await records()).toEqual(before)
  })

  test('cannot be restricted to a service outside of its environments', async () => {
    const access = { mode: 'read', environments: ['staging'], services: [world.theirs.service] }
    expect(await world.browser.post('/auth/tokens', { name: 'none', access })).toMatchObject({ status: 400 })
  })

  test('is not made by a token, whatever that may', async () => {
    for (const token of [await world.token(), await world.token({ mode: 'read' })]) {
      const answer = await world.ask(token, 'POST', '/auth/tokens', { name: 'more' })
      expect(answer).toMatchObject({ status: 403, text: expect.stringContaining('"session_required"') })
    }
  })

  test('is made on the host with the same access, in words', async () => {
    const entry = await builtServer()
    const run = async (...words: string[]) => {
      const at = ['--data-dir', world.server.dataDirectory]
      return (await promisify(execFile)(process.execPath, [entry, 'token', ...words, ...at])).stdout.trim()
    }
    const restriction = ['--access', 'deploy', '--service', 'goat-web', '--environment', 'staging']
    const token = await run('create', 'on-the-host', ...restriction)
    const { text } = await world.ask(token, 'GET', '/services?environment=staging')
    expect(JSON.parse(text)).toMatchObject([{ name: 'goat-web', deploy_hook_key: null }])
    expect(await run('list')).toContain(
      'may read and deploy in the service goat-web of the environment staging, and sees no secrets',
    )
    await expect(run('create', 'bad', '--access', 'depoly')).rejects.toThrow(/did you mean deploy/i)
  })
})

describe('what a token reaches', () => {
  test('shrinks with what is deleted, and never grows', async () => {
    const { body: place } = await world.server.api('POST', '/environments', { name: 'short' })
    const { body: service } = await world.server.api('POST', '/services', { name: 'a', environment: 'short' })
    const inPlace = await world.token({ mode: 'full', secrets: true, environments: ['short'] })
    const inService = await world.token({ mode: 'full', secrets: true, services: [service.id] })
    await world.server.api('DELETE', `/services/${service.id}`)
    world.sql('DELETE FROM services WHERE id = ?', service.id)
    expect(await world.server.api('DELETE', `/environments/${place.id}`)).toMatchObject({ status: 204 })
    for (const token of [inPlace, inService]) {
      expect(JSON.parse((await world.ask(token, 'GET', '/environments')).text)).toEqual([])
      expect(JSON.parse((await world.ask(token, 'GET', '/env-groups')).text)).toEqual([])
      expect(await world.ask(token, 'GET', `/services/${world.ours.service}`)).toMatchObject({ status: 404 })
      expect(await world.ask(token, 'GET', '/server/settings')).toMatchObject({ status: 403 })
    }
    const lists = (await records()).map(({ access }) => access)
    expect(lists).toContainEqual({ ...FULL, environments: [] })
    expect(lists).toContainEqual({ ...FULL, services: [] })
  })

  test('is not mixed up by answers that are kept for others', async () => {
    const everything = await world.token()
    const masked = await world.token({ mode: 'read' })
    const narrow = await world.token({ mode: 'read', secrets: true, services: [world.ours.service] })
    const list = async (token: string) =>
      (await world.ask(token, 'GET', '/services?environment=staging')).text
    const first = [await list(everything), await list(masked), await list(narrow)]
    expect(new Set(first).size).toBe(3)
    expect([await list(narrow), await list(everything), await list(masked)]).toEqual([
      ...[first[2], first[0], first[1]],
    ])
  })

  test('is all that an overview has', async () => {
    const { service, datastore, environment_id } = world.ours
    const overview = async (token: string, path = '/overview') =>
      JSON.parse((await world.ask(token, 'GET', path)).text).entries.map(({ id }: { id: string }) => id)
    const inPlace = await world.token({ mode: 'read', environments: ['staging'] })
    const all = await overview(inPlace, `/environments/${environment_id}/overview`)
    expect(all).toEqual(expect.arrayContaining([service, world.beside, datastore]))
    expect(await overview(inPlace)).toEqual(all)
    expect(await overview(await world.token({ mode: 'read', services: [service] }))).toEqual([service])
    expect(await world.ask(inPlace, 'GET', '/environments/production/overview')).toMatchObject({
      status: 404,
    })
  })

  test('is what the tools of agents reach', async () => {
    const token = await world.token({ mode: 'read', environments: ['staging'] })
    const host = await McpHost.overHttp(world.server, '/mcp', '2026-07-28', token)
    const { services } = await host.call('list_services', { environment: 'staging' })
    expect(services.map(({ name }: { name: string }) => name)).toContain('goat-web')
    expect(await host.fault('get_service', { service: world.theirs.service })).toMatch(/^not_found/)
    const { variables } = await host.call('list_variables', { service: 'goat-web', environment: 'staging' })
    expect(variables).toContainEqual({ key: 'KEY' })
    expect(host.answers).not.toMatch(/lion-web|s3cr3t/)
    await host.close()
    expect(await world.ask(token, 'POST', '/mcp/write', {})).toMatchObject({ status: 403 })
  })
})

/** Opens something with a token; the promise resolves when that has ended. */
type Opens = (token: string) => Promise<{ ended: Promise<unknown> }>

const stream =
  (path: () => string): Opens =>
  async (token) => {
    const response = await fetch(`${world.server.url}/api/v1${path()}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    expect(response.status).toBe(200)
    return { ended: response.text().catch(() => {}) }
  }

const tunnel: Opens = async (token) => {
  const url = `${world.server.url.replace('http', 'ws')}/api/v1/datastores/${world.ours.datastore}/tunnel`
  const socket = new WebSocket(url, ['deployer.tcp.v1'], { headers: { authorization: `Bearer ${token}` } })
  await once(socket, 'open')
  return { ended: once(socket, 'close').then(([code]) => expect(code).toBe(1008)) }
}

test('what is open ends within 5 s of the end of its token, however that came', async () => {
  const store = createServer().listen(0, '127.0.0.1')
  await once(store, 'listening')
  const { port } = store.address() as AddressInfo
  world.sql(
    "UPDATE datastores SET status = 'available', host_port = ? WHERE id = ?",
    port,
    world.ours.datastore,
  )
  const opens: Opens[] = [
    stream(() => '/events'),
    stream(() => `/services/${world.ours.service}/logs?follow`),
    stream(() => '/logs?environment=staging&follow'),
    stream(() => `/deploys/${world.ours.deploy_id}/logs?follow`),
    stream(() => '/server/logs?follow'),
    tunnel,
  ]
  const openAll = (token: string) => Promise.all(opens.map((open) => open(token)))
  const revoked = await world.token(undefined)
  const onHost = await world.token(undefined, { name: 'revoked on the host' })
  const expires = Date.now() + 3_000
  const expiring = await world.token(undefined, { expires_at: new Date(expires).toISOString() })
  const [id] = (await records()).filter(({ name }) => name === 'a token').slice(1)
  const open = [await openAll(revoked), await openAll(onHost), await openAll(expiring)]
  const [byApi, byHost, byTime] = open.map((all) => Promise.all(all.map(({ ended }) => ended)))
  const within = async (ended: Promise<unknown>, since: number) => {
    await ended
    expect(Date.now() - since).toBeLessThan(ENDS_WITHIN_MS)
  }
  const now = Date.now()
  await world.browser.delete(`/auth/tokens/${id!.id}`)
  world.sql("DELETE FROM api_tokens WHERE name = 'revoked on the host'")
  await Promise.all([within(byApi!, now), within(byHost!, now), within(byTime!, expires)])
  for (const token of [revoked, onHost, expiring])
    expect(await world.ask(token, 'GET', '/info')).toMatchObject({ status: 401 })
  store.close()
})
