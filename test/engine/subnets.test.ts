import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addressAt } from '#server/instances/addresses.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { containersOf, docker, fetchFrom } from './live.ts'

const SUBNET_ADDRESSES = 4_096
/** Somebody else's; an interface's name has 15 characters at most. */
const bridges: string[] = []

let server: TestServer

beforeAll(async () => {
  server = await startServer({ engine: true })
  await waitFor(() => server.logs.includes('reached_by'), 'the server to have met the engine')
})
afterAll(async () => {
  // Node's own list leaves out a bridge that nothing is plugged into.
  for (const name of bridges)
    if (existsSync(`/sys/class/net/${name}`)) execFileSync('ip', ['link', 'delete', name])
  await server?.stop()
})

/** Gives the host a bridge with a subnet, of which no engine knows. */
function occupy(subnet: string): void {
  const name = `dpl-${process.pid}-${bridges.length}`
  bridges.push(name)
  execFileSync('ip', ['link', 'add', name, 'type', 'bridge'])
  execFileSync('ip', ['address', 'add', `${addressAt(subnet, 1)}/20`, 'dev', name])
  execFileSync('ip', ['link', 'set', name, 'up'])
}

async function subnetOf(name: string): Promise<string> {
  const { status, body } = await server.api('POST', '/environments', { name })
  expect(status).toBe(201)
  return docker('network', 'inspect', '-f', '{{(index .IPAM.Config 0).Subnet}}', `deployer-${body.id}`)
}

test('a subnet of a bridge that nothing is plugged into is left to it', async () => {
  const next = `${addressAt(await subnetOf('before'), SUBNET_ADDRESSES)}/20`
  occupy(next)
  expect(await subnetOf('after')).not.toBe(next)
})

test('a network that is made anew leaves its former subnet to who has it now, and its services answer', async () => {
  const { body: environment } = await server.api('POST', '/environments', { name: 'moved' })
  const network = `deployer-${environment.id}`
  const subnet = () => docker('network', 'inspect', '-f', '{{(index .IPAM.Config 0).Subnet}}', network)
  const { body: web } = await server.api('POST', '/services', {
    name: 'web',
    environment: 'moved',
    image: 'busybox:1',
    start_command: 'echo hello >/tmp/index.html; exec httpd -f -p $PORT -h /tmp',
  })
  const answers = async () => (await fetchFrom(server, 'web.moved.localhost')).status === 200
  await waitFor(answers, 'the service to answer')
  const former = await subnet()

  await server.kill('SIGTERM')
  await docker('rm', '-f', ...(await containersOf(web.id)))
  // In this order no other server can take the subnet in between.
  occupy(former)
  await docker('network', 'rm', network)
  await server.restart()
  await waitFor(answers, 'the service to answer again', 60_000)
  expect(await subnet()).not.toBe(former)
  expect(await containersOf(web.id)).toHaveLength(1)
})
