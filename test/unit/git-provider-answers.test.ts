import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { GitHub } from '#server/git/providers/github.ts'
import { GitLab } from '#server/git/providers/gitlab.ts'
import { placeOf, type Place } from '#server/git/providers/place.ts'
import { openContext } from '../support/context.ts'

let close: () => Promise<void>
const servers: Server[] = []

beforeAll(async () => void ({ close } = await openContext()))
afterAll(() => close())
afterEach(() => servers.splice(0).forEach((server) => void server.close()))

async function answering(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A provider that has one answer. */
async function provider(kind: Place['provider'], answer: object): Promise<Place> {
  const base_url = await answering((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  return placeOf({ provider: kind, base_url })
}

test('a token is not sent to another port of the host', async () => {
  const taken: unknown[] = []
  const other = await answering((request, response) => {
    taken.push(request.headers.authorization)
    response.end('{"login":"ada"}')
  })
  const base_url = await answering((_request, response) => {
    response.writeHead(302, { location: `${other}/api/v3/user` }).end()
  })
  const asked = new GitHub(placeOf({ provider: 'gitprov_a', base_url })).ownerOf('a token')
  await expect(asked).rejects.toMatchObject({
    message: expect.stringMatching(/redirects to another address/),
  })
  expect(taken).toEqual([])
})

test('names from it are one line, in the order in which they are written', async () => {
  const repository = {
    id: 1,
    name: 'a\u202epi',
    full_name: 'ada/a\u2066pi',
    owner: { login: 'a\u200fda' },
    description: 'one\u001b[2J\ntwo',
    clone_url: 'https://example.com/ada/api.git',
    html_url: 'https://example.com/ada/api',
    private: false,
  }
  const user = { login: 'a\u009dda', name: 'A\u061cda' }
  const listed = await new GitHub(await provider('gitprov_a', [repository])).repositories('token', false)
  expect(listed.repositories).toMatchObject([
    { name: 'api', full_name: 'ada/api', owner: 'ada', description: 'one [2J two' },
  ])
  expect(await new GitHub(await provider('gitprov_a', user)).ownerOf('token')).toMatchObject({
    account: 'a da',
    accountName: 'Ada',
  })
})

test('an empty secret of a webhook does not count', async () => {
  const app = {
    id: 1,
    slug: 'a',
    html_url: 'https://example.com/a',
    client_id: 'c',
    client_secret: 's',
    pem: 'p',
  }
  const place = await provider('gitprov_a', { ...app, webhook_secret: '' })
  expect(await new GitHub(place).convertManifest('code')).toMatchObject({ webhook_secret: null })
})

describe('the lifetime of an authorization', () => {
  test.each([
    [7_200, 7_200],
    [60.7, 60],
    [1e300, 7_200],
    [-1, 7_200],
    ['soon', 7_200],
    [undefined, 7_200],
  ])('of %s is stored as %d s', async (expires_in, seconds) => {
    const place = await provider('gitprov_b', { access_token: 'a', refresh_token: 'b', expires_in })
    const before = Date.now()
    const form = { client_id: 'c', client_secret: 's', refresh_token: 'r' }
    const { expiresAt } = await new GitLab(place).refresh(form)
    expect(Number.isSafeInteger(expiresAt)).toBe(true)
    expect(expiresAt).toBeGreaterThanOrEqual(before + seconds * 1_000)
    expect(expiresAt).toBeLessThanOrEqual(Date.now() + seconds * 1_000)
  })
})
