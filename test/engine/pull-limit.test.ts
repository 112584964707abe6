import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { endOf } from './live.ts'

let server: TestServer
let registry: Server
const open = new Set<Socket>()

beforeAll(async () => {
  server = await startServer({ engine: true, flags: ['--build-timeout', '3s'] })
  // Accepts every request and never answers.
  registry = createServer((socket) => open.add(socket.on('error', () => {}))).listen(0, '127.0.0.1')
  await once(registry, 'listening')
})
afterAll(async () => {
  for (const socket of open) socket.destroy()
  registry.close()
  await server?.stop()
})

test('a pull from a registry that never answers ends with the build timeout', async () => {
  const image = `127.0.0.1:${(registry.address() as AddressInfo).port}/app:1`
  const { body } = await server.api('POST', '/services', { name: 'silent', image })
  expect(await endOf(server, body.latest_deploy.id)).toMatchObject({
    status: 'deploy_failed',
    error: expect.stringMatching(/cannot be pulled: pulling it took longer than .* --build-timeout/),
  })
})
