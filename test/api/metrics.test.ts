import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { ensurePrometheus } from '../stand/prometheus.ts'
import { run } from '../stand/run.ts'
import { databaseOf } from '../support/database.ts'
import { samplesIn, scrape } from '../support/metrics.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { refusal } from './account-client.ts'

let server: TestServer

beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

describe('current metrics', () => {
  it('show the host as /proc has it, and nothing about an engine that does not answer', async () => {
    const { status, body } = await server.api('GET', '/server/metrics')
    expect(status).toBe(200)
    const total = Number(/^MemTotal: +(\d+) kB/m.exec(readFileSync('/proc/meminfo', 'utf8'))![1]) * 1024
    expect(body.host).toMatchObject({
      cpu_count: readFileSync('/proc/stat', 'utf8').match(/^cpu\d/gm)!.length,
      memory_total_bytes: total,
    })
    expect(body.host.cpu_percent).toBeGreaterThanOrEqual(0)
    expect(body.host.cpu_percent).toBeLessThanOrEqual(100)
    expect(body.host.memory_used_bytes).toBeGreaterThan(0)
    expect(body.host.memory_used_bytes).toBeLessThan(total)
    expect(body.host.disks[0]).toMatchObject({ mount_point: '/', total_bytes: expect.any(Number) })
    expect(body.host.network_rx_bytes_per_sec).toBeGreaterThanOrEqual(0)
    expect([body.containers, body.requests]).toEqual([null, []])
  })

  it('are one reading for simultaneous requests, and a new one for later ones', async () => {
    const [one, other] = await Promise.all([1, 2].map(() => server.api('GET', '/server/metrics')))
    expect(one!.body).toEqual(other!.body)
    expect((await server.api('GET', '/server/metrics')).body.at).not.toBe(one!.body.at)
  })
})

describe('an engine that accepts requests but does not answer', () => {
  it('keeps nobody from the figures of the host', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'deployer-silent-'))
    const socket = join(folder, 'engine.sock')
    const engine = createServer(() => {}).listen(socket)
    const own = await startServer({ flags: ['--docker-host', `unix://${socket}`] })
    onTestFinished(async () => {
      await own.stop()
      engine.closeAllConnections()
      engine.close()
      rmSync(folder, { recursive: true })
    })
    await waitFor(async () => (await scrape(own)).includes('svc_host_memory_total_bytes'), 'the first round')
    const { body } = await own.api('GET', '/server/metrics')
    expect(body.containers).toBeNull()
    expect(body.host.memory_total_bytes).toBeGreaterThan(0)
  })
})

describe('the history', () => {
  it('comes with the first readings and survives a restart', async () => {
    const points = async () =>
      (await server.api('GET', '/server/metrics/history')).body.host as { at: string }[]
    await waitFor(async () => (await points()).length > 0, 'the first point')
    const before = await points()
    await server.restart()
    expect((await points()).slice(0, before.length)).toEqual(before)
  })

  it.each([
    ['', '1h', 10],
    ['?range=1h', '1h', 10],
    ['?range=6h', '6h', 60],
    ['?range=24h', '24h', 240],
  ])('has the steps of its range: "%s"', async (query, range, seconds) => {
    const { status, body } = await server.api('GET', `/server/metrics/history${query}`)
    expect(status).toBe(200)
    expect(body).toMatchObject({ range, step_seconds: seconds, containers: [], request_targets: [] })
    expect(Date.parse(body.from) % (seconds * 1_000)).toBe(0)
    expect(Date.parse(body.to) - Date.parse(body.from)).toBeLessThanOrEqual(360 * seconds * 1_000)
  })

  it.each(['?range=2h', '?range=', '?range=1H', '?from=1', '?range=1h&range=6h'])(
    'of a bad range is refused: %s',
    async (query) => {
      expect(await server.api('GET', `/server/metrics/history${query}`)).toMatchObject(
        refusal(400, 'invalid_request'),
      )
      expect(await server.api('GET', `/services/nobody/metrics${query}`)).toMatchObject(
        refusal(400, 'invalid_request'),
      )
    },
  )

  it('of a service that is not there is not found', async () => {
    expect(await server.api('GET', '/services/nobody/metrics')).toMatchObject(refusal(404, 'not_found'))
  })
})

describe('/metrics', () => {
  it('is accepted by a Prometheus parser, without a complaint except about one given name', async () => {
    await waitFor(async () => (await scrape(server)).includes('svc_host_cpu_count'), 'the first reading')
    const { promtool } = await ensurePrometheus()
    const text = await scrape(server)
    const complaints = await check(promtool, text)
    expect(complaints).toEqual([expect.stringMatching(/^svc_host_cpu_count .*"_count"/)])
    const names = new Set(samplesIn(text).map(({ name }) => name))
    expect(names).toContain('svc_build_info')
    expect(names).not.toContain('svc_container_cpu_percent')
  })

  it('has when each datastore was last backed up, unless it never was', async () => {
    await server.api('POST', '/environments', { name: 'staging' })
    const [db] = await Promise.all(
      ['db', 'other'].map((name) =>
        server.api('POST', '/datastores', { name, kind: 'keyvalue', environment: 'staging' }),
      ),
    )
    const { id } = db!.body
    const database = databaseOf(server.dataDirectory)
    const insert = database.prepare(
      `INSERT INTO backups (id, datastore_id, status, trigger, created_at, finished_at) VALUES (?, ?, ?, 'manual', ?, ?)`,
    )
    for (const [backup, status, at] of [
      ['bak-1', 'succeeded', 1_700_000_000_000],
      ['bak-2', 'succeeded', 1_700_000_100_000],
      ['bak-3', 'failed', 1_700_000_200_000],
    ] as const)
      insert.run(backup, id, status, at, at)
    database.close()
    const name = 'svc_datastore_backup_last_success_timestamp_seconds'
    expect(samplesIn(await scrape(server)).filter((sample) => sample.name === name)).toEqual([
      { name, labels: { id, name: 'db.staging' }, value: 1_700_000_100 },
    ])
  })

  it('accepts the token in the query, and has the right content type', async () => {
    const answer = await server.request('GET', `/metrics?access_token=${server.token}`)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  it('needs a token, and accepts only reads', async () => {
    expect(await server.request('GET', '/metrics')).toMatchObject(refusal(401, 'unauthorized'))
    const headers = { authorization: `Bearer ${server.token}` }
    expect(await server.request('POST', '/metrics', undefined, { headers })).toMatchObject(
      refusal(405, 'method_not_allowed'),
    )
    expect(await server.request('GET', '/metrics?x=1', undefined, { headers })).toMatchObject(
      refusal(400, 'invalid_request'),
    )
  })
})

describe('the alert rules for Prometheus', () => {
  it('fire when they should, and not otherwise', async () => {
    const { promtool } = await ensurePrometheus()
    await run(promtool, ['check', 'rules', 'docs/prometheus-alerts.yml'])
    await run(promtool, ['test', 'rules', 'test/api/prometheus-alerts.yml'])
  })

  it('and the Grafana dashboard query metrics that exist', () => {
    const documented = new Set(readFileSync('docs/metrics.md', 'utf8').match(/\bsvc_\w+/g))
    for (const file of ['docs/prometheus-alerts.yml', 'docs/grafana-dashboard.json']) {
      const names = readFileSync(file, 'utf8').match(/\bsvc_\w+/g)!
      expect(names.filter((name) => !documented.has(name.replace(/_bucket$/, '')))).toEqual([])
    }
  })
})

/** What promtool says about a text, one line each. Throws when it cannot parse it. */
function check(promtool: string, text: string): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const child = execFile(promtool, ['check', 'metrics'], (error, out, err) => {
      // 3 is for complaints about style.
      if (error && error.code !== 3) reject(new Error(`${out}${err}`))
      else resolve(err.split('\n').filter((line) => line !== ''))
    })
    child.stdin!.end(text)
  })
}
