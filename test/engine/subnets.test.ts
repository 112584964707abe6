import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addressAt } from '#server/instances/addresses.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { docker } from './live.ts'

const SUBNET_ADDRESSES = 4_096
/** An interface's name has 15 characters at most. */
const BRIDGE = `dpl-${process.pid}`

let server: TestServer

beforeAll(async () => {
  server = await startServer({ engine: true })
})
afterAll(async () => {
  execFileSync('ip', ['link', 'delete', BRIDGE])
  await server?.stop()
})

async function subnetOf(name: string): Promise<string> {
  const { status, body } = await server.api('POST', '/environments', { name })
  expect(status).toBe(201)
  return docker('network', 'inspect', '-f', '{{(index .IPAM.Config 0).Subnet}}', `deployer-${body.id}`)
}

test('a subnet of a bridge that nothing is plugged into is left to it', async () => {
  const next = addressAt(await subnetOf('before'), SUBNET_ADDRESSES)
  execFileSync('ip', ['link', 'add', BRIDGE, 'type', 'bridge'])
  execFileSync('ip', ['address', 'add', `${addressAt(`${next}/20`, 1)}/20`, 'dev', BRIDGE])
  execFileSync('ip', ['link', 'set', BRIDGE, 'up'])
  expect(await subnetOf('after')).not.toBe(`${next}/20`)
})
