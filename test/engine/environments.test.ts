import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { containersOf, docker, endOf, fetchFrom } from './live.ts'

/** Serves `text`, inserted by the shell, for as long as it runs. */
const page = (text: string) =>
  `mkdir -p /tmp/www && echo ${text} > /tmp/www/index.html && exec httpd -f -p $PORT -h /tmp/www`

/** Calls names as a program does; a line on standard input, or its end, stops a loop. */
const CALLER = `
const http = require('http'), dns = require('dns')
const get = (url) => new Promise((resolve) => http.get(url, { agent: false, timeout: 3000 }, (answer) => {
  let text = ''
  answer.on('data', (part) => (text += part)).on('end', () => resolve(text.trim()))
}).on('timeout', function () { this.destroy(new Error('timed out')) }).on('error', (error) => resolve('! ' + error.message)))
const [what, ...rest] = process.argv.slice(1)
const work = {
  get: () => get(rest[0]),
  ask: async () => {
    const resolver = new dns.promises.Resolver({ timeout: 3000, tries: 1 })
    if (rest[1]) resolver.setServers([rest[1]])
    return (await resolver.resolve4(rest[0]).catch(({ code }) => ['! ' + code])).join()
  },
  loop: async () => {
    let good = 0
    const bad = []
    while (!require('fs').existsSync('/tmp/stop')) {
      const answer = await get(rest[0])
      if (answer.startsWith('!')) bad.push(answer); else good++
    }
    return JSON.stringify({ good, bad })
  },
}
work[what]().then(console.log)
`

let server: TestServer

beforeAll(async () => {
  server = await startServer({ engine: true, flags: ['--proxy-workers', '2'] })
})

afterAll(async () => {
  await server?.stop()
})

/** Creates a service and waits until it is live. */
async function live(name: string, environment: string, more: object = {}): Promise<string> {
  const { body } = await server.api('POST', '/services', {
    name,
    environment,
    type: 'private_service',
    image: 'busybox:1',
    port: 8080,
    start_command: page('$DEPLOYER_ENVIRONMENT'),
    ...more,
  })
  expect(await endOf(server, body.latest_deploy.id)).toMatchObject({ status: 'live', error: null })
  return body.id as string
}

/** Calls from inside a service's container. */
async function inside(serviceId: string, ...call: string[]): Promise<string> {
  const [name] = await containersOf(serviceId)
  return docker('exec', name!, 'node', '-e', CALLER, ...call)
}

/** A program that only waits to be used for calls. */
function caller(name: string, environment: string): Promise<string> {
  return live(name, environment, {
    type: 'background_worker',
    image: 'node:22-bookworm-slim',
    port: null,
    start_command: 'exec sleep 100000',
  })
}

async function addressesOf(serviceId: string): Promise<string[]> {
  const names = await containersOf(serviceId)
  const format = '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}'
  return Promise.all(names.map((name) => docker('inspect', '-f', format, name)))
}

async function gatewayOf(serviceId: string): Promise<string> {
  const [name] = await containersOf(serviceId)
  return docker('inspect', '-f', '{{range .NetworkSettings.Networks}}{{.Gateway}}{{end}}', name!)
}

describe('environments', () => {
  let here: string
  let there: string
  let near: string
  let far: string

  test('have a network as soon as they are created', async () => {
    await waitFor(() => server.logs.includes('reached_by'), 'the engine')
    const { status, body } = await server.api('POST', '/environments', { name: 'staging' })
    expect(status).toBe(201)
    expect(await docker('network', 'ls', '-q', '--filter', `name=deployer-${body.id}`)).not.toBe('')
  })

  test('have services of the same name, each known by it only in its own environment', async () => {
    here = await live('api', 'production')
    there = await live('api', 'staging')
    near = await caller('caller', 'staging')
    far = await caller('caller', 'production')
    expect(await inside(near, 'get', 'http://api:8080/')).toBe('staging')
    expect(await inside(far, 'get', 'http://API:8080/')).toBe('production')
    expect(server.logs).toContain('containers get answers from the resolver')
    expect(await docker('inspect', '-f', '{{.HostConfig.Dns}}', (await containersOf(there))[0]!)).toBe(
      `[${await gatewayOf(there)}]`,
    )
  })

  test('reach each other only through public addresses', async () => {
    await live('only', 'production')
    const [foreign] = await addressesOf(here)
    expect(await inside(near, 'get', 'http://only:8080/')).toMatch(/^! /)
    expect(await inside(near, 'get', `http://${foreign}:8080/`)).toMatch(/^! .*(timed out|UNREACH)/)
    expect([await inside(near, 'ask', 'api', await gatewayOf(here))]).toEqual(await addressesOf(there))
    await live('public', 'staging', { type: 'web_service' })
    expect((await fetchFrom(server, 'public.staging.localhost')).text.trim()).toBe('staging')
    expect((await fetchFrom(server, 'public.localhost')).status).toBe(404)
  })

  test('replace a service without a refused connection while another calls it by name', async () => {
    const calls = inside(near, 'loop', 'http://api:8080/')
    for (const version of ['second', 'third']) {
      await server.api('PATCH', '/services/api?environment=staging', { start_command: page(version) })
      const { body } = await server.api('POST', '/services/api/restart?environment=staging')
      expect((await endOf(server, body.id)).status).toBe('live')
      expect(await inside(near, 'get', 'http://api:8080/')).toBe(version)
      await waitFor(async () => (await containersOf(there)).length === 1, 'the old to be gone')
    }
    const [name] = await containersOf(near)
    await docker('exec', name!, 'touch', '/tmp/stop')
    const { good, bad } = JSON.parse(await calls) as { good: number; bad: string[] }
    expect(bad).toEqual([])
    expect(good).toBeGreaterThan(100)
  })

  test('resolve every instance of a service that was scaled', async () => {
    await server.api('POST', '/services/api/scale?environment=staging', { instances: 3 })
    const told = async () => (await inside(near, 'ask', 'api')).split(',')
    await waitFor(async () => (await told()).length === 3, 'three addresses')
    expect((await told()).toSorted()).toEqual((await addressesOf(there)).toSorted())
  })

  test('keep resolving names while a worker of the data plane and the control plane are killed', async () => {
    const table = `deployer-proxy worker ${server.dataDirectory}`
    const workers = execFileSync('pgrep', ['-f', table], { encoding: 'utf8' }).trim().split('\n').map(Number)
    expect(workers).toHaveLength(2)
    const ask = () => inside(near, 'get', 'http://api:8080/')
    process.kill(workers[0]!, 'SIGKILL')
    for (let times = 0; times < 5; times++) expect(await ask()).toBe('third')
    await server.kill('SIGKILL')
    for (let times = 0; times < 5; times++) expect(await ask()).toBe('third')
    await server.restart()
    for (let times = 0; times < 5; times++) expect(await ask()).toBe('third')
  })

  test('forget the name of a service that is deleted', async () => {
    expect((await server.api('DELETE', '/services/api?environment=staging')).status).toBe(204)
    expect(await inside(near, 'get', 'http://api:8080/')).toMatch(/^! /)
    expect(await inside(far, 'get', 'http://api:8080/')).toBe('production')
  })

  test('are deleted with their network once they are empty, and do not reuse their addresses at once', async () => {
    const refused = await server.api('DELETE', '/environments/staging')
    expect(refused.status).toBe(409)
    expect(refused.body.error.message).toMatch(/caller, public/)
    for (const name of refused.body.error.message.match(/services: (.*)\. /)![1].split(', '))
      expect((await server.api('DELETE', `/services/${name}?environment=staging`)).status).toBe(204)
    const { body } = await server.api('GET', '/environments/staging')
    const network = `deployer-${body.id}`
    const subnet = await docker('network', 'inspect', '-f', '{{(index .IPAM.Config 0).Subnet}}', network)
    expect((await server.api('DELETE', '/environments/staging')).status).toBe(204)
    expect(await docker('network', 'ls', '-q', '--filter', `name=${network}`)).toBe('')
    const next = await server.api('POST', '/environments', { name: 'staging' })
    const given = await docker(
      'network',
      'inspect',
      '-f',
      '{{(index .IPAM.Config 0).Subnet}}',
      `deployer-${next.body.id}`,
    )
    expect(given).not.toBe(subnet)
    expect((await server.api('DELETE', '/environments/staging')).status).toBe(204)
  })
})
