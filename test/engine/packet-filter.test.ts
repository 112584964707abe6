import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { iptables } from '#daemon/packet-filter/iptables.ts'
import { nftables } from '#daemon/packet-filter/nftables.ts'
import { METADATA_NETWORKS } from '#server/network/addresses.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { openBench, type Bench } from './engine-support.ts'
import { docker, endOf } from './live.ts'

/**
 * A machine next to this host, as metadata services are: a network namespace at the other end of a cable. It answers at all
 * its addresses, at the ports of HTTP and DNS.
 */
const BESIDE = `dpl-${process.pid}`
const CABLE = `dplv-${process.pid}`
const OCTET = process.pid % 250
const METADATA = `169.254.${OCTET}.77`
const ORDINARY = `10.254.${OCTET}.2`
/** Addresses of this host itself, as used by programs that act as the metadata service on their host. */
const HOSTED = `169.254.${OCTET}.78`
const HOSTED_IPV6 = `fd00:ec2::${OCTET}`
const PORTS = [80, 53]

const listening: ChildProcess[] = []
let bench: Bench

beforeAll(async () => {
  // As under `npm start`: a package of the project has another program there that is called `nft`.
  process.env.PATH = `${resolve('node_modules/.bin')}:${process.env.PATH}`
  bench = await openBench()
  ip('netns', 'add', BESIDE)
  ip('link', 'add', CABLE, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', BESIDE)
  ip('address', 'add', `10.254.${OCTET}.1/30`, 'dev', CABLE)
  ip('link', 'set', CABLE, 'up')
  inside('address', 'add', `${ORDINARY}/30`, 'dev', 'eth0')
  inside('address', 'add', `${METADATA}/32`, 'dev', 'eth0')
  inside('link', 'set', 'eth0', 'up')
  inside('route', 'add', 'default', 'via', `10.254.${OCTET}.1`)
  ip('route', 'add', METADATA, 'via', ORDINARY)
  ip('address', 'add', `${HOSTED}/32`, 'dev', 'lo')
  ip('address', 'add', `${HOSTED_IPV6}/128`, 'dev', 'lo', 'nodad')
  const serve = (address: string, port: number) => [
    'busybox',
    'httpd',
    '-f',
    '-p',
    `${address}:${port}`,
    '-h',
    '/etc',
  ]
  for (const port of PORTS) listen('ip', ['netns', 'exec', BESIDE, ...serve('0.0.0.0', port)])
  listen(...split(serve(HOSTED, 80)))
  listen(...split(serve(`[${HOSTED_IPV6}]`, 80)))
})

afterAll(async () => {
  for (const child of listening) child.kill('SIGKILL')
  for (const undo of [
    ['netns', 'delete', BESIDE],
    ['link', 'delete', CABLE],
    ['address', 'delete', `${HOSTED}/32`, 'dev', 'lo'],
    ['address', 'delete', `${HOSTED_IPV6}/128`, 'dev', 'lo'],
  ]) {
    try {
      ip(...undo)
    } catch {
      // It was not created, or was removed with another.
    }
  }
  await bench?.close()
})

function ip(...words: string[]): void {
  execFileSync('ip', words)
}

function inside(...words: string[]): void {
  ip('-n', BESIDE, ...words)
}

function split([program, ...words]: string[]): [string, string[]] {
  return [program!, words]
}

function listen(program: string, words: string[]): void {
  listening.push(spawn(program, words, { stdio: 'ignore' }))
}

/** A command that says whether a place answers, and how it fails: a refusal is different from silence. */
function asking(host: string, port = 80): string {
  const faults = String.raw`refused\|timed out\|assign`
  return `nc -w 3 ${host} ${port} </dev/null 2>&1 | grep -o '${faults}' || echo answers`
}

/** The same from a container of the bench's network. */
async function answerOf(host: string, port = 80, network = bench.network): Promise<string> {
  const lines = await bench.output(asking(host, port), { network })
  return lines.map(({ line }) => line).join(' ')
}

describe.each([nftables, iptables])('rules by $program', (filter) => {
  const reject = (...subnets: string[]) => filter.reject(bench.serverId, subnets, METADATA_NETWORKS)
  const subnet = () => `${bench.prefix}0/24`

  test('refuse connections to metadata addresses at once, and nothing else', async () => {
    await waitFor(async () => (await answerOf(METADATA)) === 'answers', 'what plays the metadata service')
    await reject('10.199.0.0/24', subnet())
    try {
      expect(await answerOf(METADATA)).toBe('refused')
      expect(await answerOf(HOSTED)).toBe('refused')
      expect(await answerOf(ORDINARY)).toBe('answers')
      // Clouds' name servers have the same addresses.
      expect(await answerOf(METADATA, 53)).toBe('answers')
    } finally {
      expect(await filter.clear(bench.serverId)).toContain(bench.serverId)
    }
    expect(await answerOf(METADATA)).toBe('answers')
    expect(await filter.clear(bench.serverId)).toBeNull()
  })

  test('refuse a hundred times in a row, also while the engine sets rules of its own', async () => {
    await reject(subnet())
    const asked = bench.output(`for i in $(seq 100); do ${asking(METADATA)}; done | sort | uniq -c`)
    for (let times = 0; times < 3; times++) {
      const network = await docker(
        'network',
        'create',
        '--label',
        `deployer.server=${bench.serverId}`,
        `${BESIDE}-${times}`,
      )
      await docker('network', 'rm', network)
    }
    const lines = await asked
    expect(lines.map(({ line }) => line.trim())).toEqual(['100 refused'])
  })

  test('are replaced as a whole, with those of other subnets', async () => {
    await reject('10.199.0.0/24')
    expect(await answerOf(METADATA)).toBe('answers')
    await reject(subnet())
    await reject(subnet())
    expect(await answerOf(METADATA)).toBe('refused')
    await filter.clear(bench.serverId)
  })

  test('apply to IPv6 too, if a network has it', async () => {
    const network = `${bench.serverId}-6`
    const prefix = `fd12:${OCTET}`
    await docker('network', 'create', '--ipv6', '--subnet', `${prefix}::/64`, network)
    try {
      expect(await answerOf(HOSTED_IPV6, 80, network)).toBe('answers')
      await reject(subnet(), `${prefix}::/64`)
      expect(await answerOf(HOSTED_IPV6, 80, network)).toBe('refused')
    } finally {
      await filter.clear(bench.serverId)
      await docker('network', 'rm', network)
    }
  })
})

describe('a server', () => {
  const OPEN = 'containers may reach metadata addresses'

  async function withServer(flags: string[], work: (server: TestServer) => Promise<void>): Promise<void> {
    const server = await startServer({ engine: true, flags })
    try {
      await work(server)
    } finally {
      await server.stop()
    }
  }

  /** What a program prints that runs at its own time in an environment. */
  async function printed(server: TestServer, command: string, environment: string): Promise<string> {
    const fields = { type: 'cron_job', schedule: '0 0 29 2 *', image: 'busybox:1', start_command: command }
    const { body } = await server.api('POST', '/services', { name: 'asking', environment, ...fields })
    expect(await endOf(server, body.latest_deploy.id)).toMatchObject({ status: 'live', error: null })
    const job = (await server.api('POST', `/services/${body.id}/jobs`)).body
    await waitFor(
      async () => ['succeeded', 'failed'].includes((await server.api('GET', `/jobs/${job.id}`)).body.status),
      'the end of the job',
    )
    return (await server.api('GET', `/jobs/${job.id}/logs`)).body
  }

  test('keeps everything that runs in an environment from metadata addresses, from its first container on', async () => {
    await withServer([], async (server) => {
      await waitFor(() => server.logs.includes('rejected_by'), 'the rules')
      await server.api('POST', '/environments', { name: 'fresh' })
      const both = `${asking(METADATA)}; ${asking(ORDINARY)}; ${asking('fd00:ec2::254')}`
      expect(await printed(server, both, 'fresh')).toMatch(/refused[^]*answers[^]*assign/)
    })
  })

  test('allows them with --allow-metadata, and says so', async () => {
    await withServer(['--allow-metadata'], async (server) => {
      await waitFor(() => server.logs.includes(OPEN), 'the server to say what is open')
      expect(await printed(server, asking(METADATA), 'production')).toContain('answers')
      // What a start without the flag has left.
      const serverId = readFileSync(join(server.dataDirectory, 'proxy/server_id'), 'utf8').trim()
      await server.kill()
      for (const filter of [nftables, iptables]) await filter.reject(serverId, [], METADATA_NETWORKS)
      await server.restart()
      await waitFor(() => server.logs.split(OPEN).length === 3, 'the server to say it again')
      for (const filter of [nftables, iptables]) expect(await filter.clear(serverId)).toBeNull()
    })
  })
})
