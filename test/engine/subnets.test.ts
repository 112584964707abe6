import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addressAt } from '#server/instances/addresses.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { containersOf, docker, endOf, fetchFrom } from './live.ts'

/** The range that the subnets are chosen from, first to last. */
const FIRST = '10.208.0.0/20'
const SUBNET_ADDRESSES = 4_096
/** A foreign interface; its name has 15 characters at most. */
const bridges: string[] = []

let server: TestServer

beforeAll(async () => {
  server = await startServer({ engine: true })
  await waitFor(() => server.logs.includes('reached_by'), 'the server to have met the engine')
})
afterAll(async () => {
  // Node's own list leaves out a bridge without anything plugged in.
  for (const name of bridges)
    if (existsSync(`/sys/class/net/${name}`)) execFileSync('ip', ['link', 'delete', name])
  await server?.stop()
})

/** Gives the host a bridge with a subnet that no engine knows. */
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

/** Makes the engine give a subnet to nobody else while `work` runs: the first free one, which a server would choose. */
async function withFirstFree(work: (subnet: string) => void): Promise<string> {
  const name = `dpl-free-${process.pid}`
  for (let index = 0; ; index++) {
    const subnet = `${addressAt(FIRST, index * SUBNET_ADDRESSES)}/20`
    const isTaken = await docker('network', 'create', '--subnet', subnet, name).then(
      () => false,
      (error: Error) => {
        if (!error.message.includes('overlaps')) throw error
        return true
      },
    )
    if (isTaken) continue
    try {
      work(subnet)
    } finally {
      await docker('network', 'rm', name)
    }
    return subnet
  }
}

test('the subnet of a bridge without anything plugged in is not used', async () => {
  const free = await withFirstFree(occupy)
  expect(await subnetOf('after')).not.toBe(free)
})

test(
  'servers that create networks on one engine at once get out of each other’s way',
  { tags: ['slow'] },
  async () => {
    const other = await startServer({ engine: true })
    try {
      await waitFor(() => other.logs.includes('reached_by'), 'the other to have met the engine')
      const made = ['one', 'two', 'three'].flatMap((name) =>
        [server, other].map((each) => each.api('POST', '/environments', { name })),
      )
      const faults = (await Promise.all(made)).filter(({ status }) => status !== 201).map(({ body }) => body)
      expect(faults).toEqual([])
    } finally {
      await other.stop()
    }
  },
)

test(
  'a network that is created again elsewhere resolves the names that its first program asks for',
  { tags: ['slow'] },
  async () => {
    const { body: environment } = await server.api('POST', '/environments', { name: 'pruned' })
    const network = `deployer-${environment.id}`
    const subnet = () => docker('network', 'inspect', '-f', '{{(index .IPAM.Config 0).Subnet}}', network)
    // A name that every environment has.
    const { body: asking } = await server.api('POST', '/services', {
      name: 'asking',
      environment: 'pruned',
      type: 'cron_job',
      schedule: '0 0 1 1 *',
      image: 'busybox:1',
      start_command: 'nslookup 0-resolver',
    })
    expect(await endOf(server, asking.latest_deploy.id)).toMatchObject({ status: 'live', error: null })
    const run = async () => {
      const { body } = await server.api('POST', `/services/${asking.id}/jobs`)
      return waitFor(async () => {
        const { status, error } = (await server.api('GET', `/jobs/${body.id}`)).body
        return ['succeeded', 'failed'].includes(status) && { status, error }
      }, 'the end of the run')
    }
    expect(await run()).toEqual({ status: 'succeeded', error: null })
    const former = await subnet()
    occupy(former)
    await docker('network', 'rm', network)
    expect(await run()).toEqual({ status: 'succeeded', error: null })
    expect(await subnet()).not.toBe(former)
  },
)

test(
  'a network that is created again leaves its former subnet to its new owner, and its services answer',
  { tags: ['slow'] },
  async () => {
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
    await waitFor(answers, 'the service to answer again')
    expect(await subnet()).not.toBe(former)
    expect(await containersOf(web.id)).toHaveLength(1)
  },
)

test(
  'new instances use a network that is created again elsewhere during a pre-deploy command, and its name server',
  { tags: ['slow'] },
  async () => {
    const { body: environment } = await server.api('POST', '/environments', { name: 'shifted' })
    const network = `deployer-${environment.id}`
    const addresses = (field: string) =>
      docker('network', 'inspect', '-f', `{{(index .IPAM.Config 0).${field}}}`, network)
    const { body: web } = await server.api('POST', '/services', {
      name: 'late',
      environment: 'shifted',
      image: 'busybox:1',
      pre_deploy_command: 'until [ -e /go ]; do sleep 0.1; done',
      start_command: 'echo hello >/tmp/index.html; exec httpd -f -p $PORT -h /tmp',
    })
    const command = `pre-${web.latest_deploy.id}`
    await waitFor(() => docker('ps', '-q', '--filter', `name=${command}`), 'the command to run')
    const former = await addresses('Subnet')
    occupy(former)
    await docker('network', 'disconnect', '-f', network, command)
    await docker('network', 'rm', network)
    await docker('exec', command, 'touch', '/go')
    expect(await endOf(server, web.latest_deploy.id)).toMatchObject({ status: 'live', error: null })
    expect(await addresses('Subnet')).not.toBe(former)
    const [container] = await containersOf(web.id)
    const nameServers = await docker('inspect', '-f', '{{.HostConfig.Dns}}', container!)
    expect(nameServers).toBe(`[${await addresses('Gateway')}]`)
  },
)
