import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createServer, request, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createImageDoor } from '#agent/images.ts'
import { SERVER_NAME, type Identity } from '#agent/protocol.ts'
import { certifyNode, serverIdentity } from '#daemon/nodes/authority.ts'
import { Invitations } from '#daemon/nodes/invitations.ts'
import { openListener } from '#daemon/nodes/listener.ts'
import { RegistryCalls } from '#daemon/nodes/registry-calls.ts'
import { certifyCaller, certifyRegistry } from '#daemon/nodes/registry-identities.ts'
import { makeSelfSigned } from '../../support/certificate.ts'
import { openContext } from '../../support/context.ts'

const NODE = 'nod-00000000000000000001'
const GONE_NODE = 'nod-00000000000000000002'
const SERVICE = 'srv-00000000000000000001'
const BLOB = `/v2/${SERVICE}/blobs/sha256:0a`

let close: () => Promise<void>
let folder: string
let listener: Server
let registry: Server
let identity: Identity
let invitations: Invitations
let asked: string[]

beforeEach(async () => {
  ;({ close } = await openContext())
  folder = mkdtempSync(join(tmpdir(), 'deployer-listener-'))
  asked = []
  const { certificate, key, authority } = await certifyRegistry()
  const shown = { cert: certificate, key, ca: authority, requestCert: true, rejectUnauthorized: true }
  registry = createServer(shown, (incoming, response) => {
    asked.push(`${incoming.method} ${incoming.url}`)
    response.writeHead(200, { 'docker-content-digest': 'sha256:0a' }).end('layer')
  }).listen(0, '127.0.0.1')
  await once(registry, 'listening')
  const calls = new RegistryCalls((registry.address() as AddressInfo).port, await certifyCaller())
  identity = await serverIdentity(folder)
  invitations = new Invitations()
  listener = await openListener({ host: '127.0.0.1', port: 0 }, identity, {
    tokenDigest: () => invitations.digest(),
    agentImage: async () => Readable.from(['the image']),
    isNode: (id) => id === NODE,
    mayPull: (id, repository) => id === NODE && repository === SERVICE,
    passToRegistry: (incoming, response) => calls.pass(incoming, response),
  })
})
afterEach(async () => {
  listener.closeAllConnections()
  listener.close()
  registry.closeAllConnections()
  registry.close()
  rmSync(folder, { recursive: true })
  await close()
})

async function ask(path: string, shown: Partial<Identity> = {}, method = 'GET'): Promise<[number, string]> {
  const asking = request({
    ...{ host: '127.0.0.1', port: (listener.address() as AddressInfo).port, servername: SERVER_NAME },
    ...{ path, method, ca: identity.authority, cert: shown.certificate, key: shown.key, agent: false },
  }).end()
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    asking.on('error', reject)
    // The event is the only way to an answer of a request that was made without a function.
    asking.on('response', resolve)
  })
  return [answer.statusCode!, await text(answer)]
}

test('a token gives the image until it ends', async () => {
  const { token } = invitations.make()
  expect(await ask(`/join/${token}`)).toEqual([200, 'the image'])
  expect(await ask(`/join/${token}x`)).toEqual([404, '{}'])
  expect(await ask('/join/')).toEqual([401, '{}'])
})

test('a token ends an hour after it was made, 30 s after a machine began to join, and with the next one', async () => {
  const now = Date.now()
  const first = invitations.make(now)
  expect(first.expiresAt - now).toBe(3_600_000)
  expect(invitations.digest(now + 3_599_999)).not.toBeNull()
  expect(invitations.digest(now + 3_600_000)).toBeNull()
  const second = invitations.make(now)
  expect(await ask(`/join/${first.token}`)).toEqual([404, '{}'])
  invitations.use(now)
  expect(invitations.digest(now + 29_999)).not.toBeNull()
  expect(invitations.digest(now + 30_000)).toBeNull()
  invitations.use(now - 60_000)
  expect(await ask(`/join/${second.token}`)).toEqual([404, '{}'])
  expect(invitations.isOpen).toBe(true)
  invitations.forget()
  expect(invitations.isOpen).toBe(false)
})

test('a node gets the layers of what it may pull, and only those', async () => {
  const node = await certifyNode(NODE)
  expect(await ask('/v2/', node)).toEqual([200, '{}'])
  expect(await ask(BLOB, node)).toEqual([200, 'layer'])
  expect(await ask(BLOB, node, 'HEAD')).toEqual([200, ''])
  const refused = [
    ['PUT', BLOB, 405],
    ['POST', `/v2/${SERVICE}/blobs/uploads/`, 405],
    ['DELETE', `/v2/${SERVICE}/manifests/sha256:0a`, 405],
    ['GET', '/v2/_catalog', 404],
    ['GET', `/v2/${SERVICE}/tags/list`, 404],
    ['GET', '/v2/srv-00000000000000000002/blobs/sha256:0a', 404],
    ['GET', `/v2/${SERVICE}/blobs/../../_catalog`, 404],
    ['GET', `/v2/${SERVICE}/blobs/sha256%3A0a`, 404],
  ] as const
  for (const [method, path, status] of refused)
    expect([path, (await ask(path, node, method))[0]]).toEqual([path, status])
  expect(asked).toEqual([`GET ${BLOB}`, `HEAD ${BLOB}`])
})

test('a stranger gets no layer', async () => {
  const made = await makeSelfSigned(folder, NODE)
  const self = { certificate: readFileSync(made.certificate, 'utf8'), key: readFileSync(made.key, 'utf8') }
  const strangers = [{}, self, await certifyNode(GONE_NODE), identity]
  for (const shown of strangers) expect((await ask(BLOB, shown))[0]).toBe(401)
  expect(asked).toEqual([])
})

test("a node's engine reaches the registry through its agent, which passes on nothing else", async () => {
  const { port } = listener.address() as AddressInfo
  const source = { identity: await certifyNode(NODE), server: { host: '127.0.0.1', port } }
  const door = createImageDoor(source).listen(0, '127.0.0.1')
  await once(door, 'listening')
  const url = `http://127.0.0.1:${(door.address() as AddressInfo).port}`
  try {
    const answer = await fetch(`${url}${BLOB}`)
    expect([answer.status, await answer.text()]).toEqual([200, 'layer'])
    expect(answer.headers.get('docker-content-digest')).toBe('sha256:0a')
    expect((await fetch(`${url}/v2/`)).status).toBe(200)
    expect((await fetch(`${url}${BLOB}`, { method: 'PUT', body: 'x' })).status).toBe(405)
    listener.closeAllConnections()
    listener.close()
    expect((await fetch(`${url}${BLOB}`)).status).toBe(502)
  } finally {
    door.closeAllConnections()
    door.close()
  }
})

test('the agent does not take another server for its own', async () => {
  const { port } = listener.address() as AddressInfo
  const node = await certifyNode(NODE)
  const made = await makeSelfSigned(folder, SERVER_NAME)
  const trusting = { ...node, authority: readFileSync(made.certificate, 'utf8') }
  const door = createImageDoor({ identity: trusting, server: { host: '127.0.0.1', port } }).listen(
    0,
    '127.0.0.1',
  )
  await once(door, 'listening')
  try {
    expect((await fetch(`http://127.0.0.1:${(door.address() as AddressInfo).port}${BLOB}`)).status).toBe(502)
    expect(asked).toEqual([])
  } finally {
    door.closeAllConnections()
    door.close()
  }
})
