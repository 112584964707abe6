import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addressAt } from '#server/instances/addresses.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { docker } from './live.ts'

const SUBNET_ADDRESSES = 4_096
/** An interface's name has 15 characters at most. */
const BRIDGE = `dpl-${process.pid}`

let server: TestServer

beforeAll(async () => {
  server = await startServer({ engine: true })
  await waitFor(() => server.logs.includes('reached_by'), 'the server to have met the engine')
})
afterAll(async () => {
  if (isBridgeThere()) execFileSync('ip', ['link', 'delete', BRIDGE])
  await server?.stop()
})

/** Node's own list leaves out a bridge that nothing is plugged into. */
function isBridgeThere(): boolean {
  return existsSync(`/sys/class/net/${BRIDGE}`)
}

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
