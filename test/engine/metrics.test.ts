import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ensurePrometheus } from '../stand/prometheus.ts'
import { uploadSelfSigned } from '../support/certificate.ts'
import { samplesIn, scrape } from '../support/metrics.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { become, create } from './datastore-support.ts'
import { docker, endOf, fetchFrom } from './live.ts'

const MIB = 1024 * 1024
/** Of one core: a load of known size, which a busy machine may cut short but never exceeds. */
const CPU_LIMIT = 0.2
const HELD_MIB = 48
/** A kernel under pressure may take some of it away. */
const AT_LEAST = 0.75 * HELD_MIB * MIB

/** Holds memory in a variable, works without a pause, and serves a page. */
const WORK = `held=$(head -c ${HELD_MIB}m /dev/zero | tr '\\0' x); mkdir /www; echo hello > /www/index.html
httpd -p $PORT -h /www; while :; do :; done`

let server: TestServer
let service: { id: string; latest_deploy: { id: string } }
let datastore: { id: string }

beforeAll(async () => {
  server = await startServer({ engine: true, flags: ['--keyvalue-image', 'redis:7'] })
  const fields = { name: 'busy', image: 'busybox:1', cpu_limit: CPU_LIMIT, memory_limit_mb: 256 }
  service = (await server.api('POST', '/services', { ...fields, start_command: WORK })).body
  datastore = await create(server, {
    name: 'cache',
    kind: 'keyvalue',
    version: '7',
    environment: 'production',
  })
  await endOf(server, service.latest_deploy.id)
  await become(server, datastore.id, 'available')
})
afterAll(() => server?.stop())

interface Container {
  id: string
  name: string
  kind: string
  instance: string | null
  cpu_percent: number
  memory_bytes: number
}

async function current(): Promise<{ containers: Container[]; requests: Record<string, unknown>[] }> {
  return (await server.api('GET', '/server/metrics')).body
}

describe('the figures of containers', () => {
  test("match the engine's, for a load of known size", async () => {
    const { containers } = await current()
    expect(containers.map(({ name, kind }) => [name, kind])).toEqual([
      ['busy', 'service'],
      ['cache', 'datastore'],
    ])
    const [busy, cache] = containers as [Container, Container]
    expect(busy).toMatchObject({ id: service.id, cpu_limit: CPU_LIMIT, memory_limit_bytes: 256 * MIB })
    expect(cache).toMatchObject({ id: datastore.id, instance: null })
    expect(busy.cpu_percent).toBeGreaterThan(2)
    expect(busy.cpu_percent).toBeLessThan(CPU_LIMIT * 100 * 1.5)
    expect(busy.memory_bytes).toBeGreaterThan(AT_LEAST)

    const stats = await docker(
      'stats',
      '--no-stream',
      '--format',
      '{{.CPUPerc}} {{.MemUsage}}',
      busy.instance!,
    )
    const [, percent, memory] = /^([\d.]+)% ([\d.]+)MiB/.exec(stats)!
    expect(busy.memory_bytes / MIB).toBeGreaterThan(Number(memory) * 0.9)
    expect(busy.memory_bytes / MIB).toBeLessThan(Number(memory) * 1.1)
    expect(Math.abs(busy.cpu_percent - Number(percent))).toBeLessThan(CPU_LIMIT * 100)
  })

  test("are also in a service's status", async () => {
    const status = async () => (await server.api('GET', '/services/busy/status')).body.instances[0]
    await waitFor(async () => {
      const { cpu_percent, memory_bytes } = await status()
      return cpu_percent !== null && memory_bytes > AT_LEAST
    }, 'a reading of the instance')
  })

  test('leave out a container that is gone', async () => {
    await server.api('DELETE', `/datastores/${datastore.id}`)
    const { containers } = await current()
    expect(containers.map(({ id }) => id)).toEqual([service.id])
  })
})

describe('the figures of requests', () => {
  test('are counted by target, in the reading, the history and for Prometheus', async () => {
    const before = await countOf()
    for (let request = 0; request < 40; request++) await fetchFrom(server, 'busy.localhost')
    for (let request = 0; request < 5; request++) await fetchFrom(server, 'busy.localhost', '/nothing')
    for (let request = 0; request < 3; request++) await fetchFrom(server, 'nobody.localhost')
    const reading = await waitFor(async () => {
      const { requests } = await current()
      return requests.length === 2 ? requests : null
    }, 'a reading with the requests')
    expect(reading).toMatchObject([
      { target: service.id, name: 'busy', status_5xx: 0 },
      { target: 'unrouted', name: 'unrouted' },
    ])
    await waitFor(async () => (await countOf()) - before === 48, 'all of them in /metrics')
    const history = (await server.api('GET', '/server/metrics/history')).body
    expect(history.request_targets).toMatchObject([
      { target: service.id, name: 'busy', status_2xx: 40, status_4xx: 5, p50_ms: expect.any(Number) },
      { target: 'unrouted', status_4xx: 3 },
    ])
    const ofService = (await server.api('GET', '/services/busy/metrics')).body
    const sum = (key: string) =>
      ofService.requests.reduce((total: number, point: Record<string, number>) => total + point[key]!, 0)
    expect([sum('status_2xx'), sum('status_4xx')]).toEqual([40, 5])
    expect(ofService.instances[0].points.at(-1)).toMatchObject({ cpu_percent: expect.any(Number) })
  })

  async function countOf(): Promise<number> {
    return samplesIn(await scrape(server))
      .filter(({ name }) => name === 'svc_http_requests_total')
      .reduce((total, { value }) => total + value, 0)
  }
})

describe('Prometheus', () => {
  let folder: string
  let port: number
  let child: ChildProcess

  beforeAll(async () => {
    await uploadSelfSigned(server, 'busy.localhost', 30)
    folder = mkdtempSync(join(tmpdir(), 'deployer-prometheus-'))
    port = await freePort()
    writeFileSync(join(folder, 'token'), server.token)
    const { host } = new URL(server.url)
    writeFileSync(
      join(folder, 'prometheus.yml'),
      `scrape_configs:
  - job_name: deployer
    scrape_interval: 1s
    authorization: { credentials_file: ${folder}/token }
    static_configs: [{ targets: ['${host}'] }]
`,
    )
    const { prometheus } = await ensurePrometheus()
    child = spawn(
      prometheus,
      [
        `--config.file=${folder}/prometheus.yml`,
        `--storage.tsdb.path=${folder}/data`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { stdio: 'ignore' },
    )
  })
  afterAll(async () => {
    if (child.exitCode === null && child.kill()) await once(child, 'exit')
    rmSync(folder, { recursive: true, force: true })
  })

  async function ask(query: string): Promise<{ metric: Record<string, string>; value: [number, string] }[]> {
    const url = `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(query)}`
    const answer = (await (await fetch(url)).json()) as { data: { result: never[] } }
    return answer.data.result
  }

  /** The queries of the Grafana dashboard, as Grafana would send them for everything. */
  function questions(): string[] {
    const { panels } = JSON.parse(readFileSync('docs/grafana-dashboard.json', 'utf8')) as {
      panels: { targets?: { expr: string }[] }[]
    }
    return panels
      .flatMap(({ targets }) => targets ?? [])
      .map(({ expr }) => expr.replaceAll('$__rate_interval', '15s').replaceAll(/\$(instance|service)/g, '.*'))
  }

  test('scrapes the server and finds its containers, requests and latencies', async () => {
    const [memory] = await waitFor(async () => {
      const found = await ask('svc_container_memory_bytes{name="busy"}')
      return found.length > 0 ? found : null
    }, 'a scraped container')
    expect(memory!.metric).toMatchObject({ kind: 'service', id: service.id })
    expect(memory!.metric.instance_id).toMatch(new RegExp(`^${service.id}-`))
    expect(Number(memory!.value[1])).toBeGreaterThan(HELD_MIB * MIB)
    const [up] = await ask('up')
    expect(up!.value[1]).toBe('1')
    const [slow] = await ask(
      'histogram_quantile(0.95, sum by (le) (svc_http_request_duration_seconds_bucket{name="busy"}))',
    )
    expect(Number(slow!.value[1])).toBeGreaterThan(0)
    expect(await ask('svc_http_requests_total{name="busy",status_class="2xx"}')).toHaveLength(1)
  })

  test('answers every query of the Grafana dashboard', { tags: ['slow'] }, async () => {
    const asked = questions()
    expect(asked.length).toBeGreaterThan(15)
    for (const question of asked) await waitFor(async () => (await ask(question)).length > 0, question)
  })
})

describe('after a restart', () => {
  test('the history is unchanged, and counts for Prometheus continue', async () => {
    const history = async () => (await server.api('GET', '/server/metrics/history')).body
    const counted = async () =>
      samplesIn(await scrape(server)).find(
        ({ name, labels }) =>
          name === 'svc_http_requests_total' && labels.name === 'busy' && labels.status_class === '2xx',
      )?.value
    const before = await history()
    const count = await counted()
    await server.restart()
    const after = await history()
    expect(after.request_targets[0]).toMatchObject({ name: 'busy', status_2xx: 40 })
    expect(after.containers[0]).toMatchObject({ id: service.id, kind: 'service' })
    expect(after.host.length).toBeGreaterThanOrEqual(before.host.length - 1)
    expect(await waitFor(counted, 'the first reading')).toBe(count)
  })
})

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  return port
}
