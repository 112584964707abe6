// Measures what it costs to reconcile 500 services with 1,000 instances when nothing is to do. A small server plays the
// engine, since no host has room for so many containers: only the server's own work is measured.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createTcpServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { startServer } from '../test/support/server.ts'

const SERVICES = 500
const INSTANCES_EACH = 2
const SETTLE_MS = 20_000
const WATCH_MS = 60_000
const CLOCK_TICKS_PER_SECOND = 100
/** On loopback, so that the server finds the gateway among the host's own addresses. */
const SUBNET = '127.50.0.0/20'

const folder = mkdtempSync(join(tmpdir(), 'deployer-bench-'))
const socket = join(folder, 'engine.sock')
let containers: object[] = []
let network: object | null = null
const engine = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://engine')
  const path = url.pathname.replace(/^\/v[\d.]+/, '')
  const isOther = /deployer.kind=(?!instance)/.test(url.searchParams.get('filters') ?? '')
  const answers: Record<string, unknown> = {
    '/_ping': 'OK',
    '/version': {
      Version: '28.2.2',
      ApiVersion: '1.50',
      MinAPIVersion: '1.24',
      Components: [{ Name: 'Engine' }],
    },
    '/info': { NCPU: 2, MemTotal: 8 * 1024 ** 3, CgroupDriver: 'cgroupfs', SecurityOptions: [] },
    '/containers/json': isOther ? [] : containers,
    '/images/json': [],
    '/networks': network ? [network] : [],
  }
  if (path === '/events') return response.writeHead(200).flushHeaders()
  const known = path.startsWith('/networks/') ? network : answers[path]
  response.writeHead(known === null || known === undefined ? 404 : 200, {
    'content-type': 'application/json',
    'api-version': '1.50',
  })
  response.end(typeof known === 'string' ? known : JSON.stringify(known ?? { message: 'there is none' }))
})
engine.listen(socket)
await once(engine, 'listening')
const program = createTcpServer((connection) => connection.on('error', () => {}).resume())
program.listen(0, '127.0.0.1')
await once(program, 'listening')

process.env.DEPLOYER_TEST_DOCKER_HOST = `unix://${socket}`
const empty = await watch(() => {})
const workers = await watch((dataDirectory) => seed(dataDirectory, 'background_worker', null))
const port = (program.address() as AddressInfo).port
const probed = await watch((dataDirectory) => seed(dataDirectory, 'web_service', port))
const count = `${SERVICES} services, ${SERVICES * INSTANCES_EACH} instances`
console.log(`nothing to do, no services     ${empty.toFixed(2)} % of a core`)
console.log(`${count}, no ports       ${workers.toFixed(2)} % of a core (aim: under 1 %)`)
console.log(`${count}, each probed    ${probed.toFixed(2)} % of a core, a probe of each every 5 s included`)
engine.close()
engine.closeAllConnections()
program.close()
rmSync(folder, { recursive: true, force: true })

/** Returns the share of a core, in percent, that the server uses while nothing is to do. */
async function watch(prepare: (dataDirectory: string) => void): Promise<number> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'deployer-bench-'))
  try {
    network = {
      Name: 'bench',
      Id: 'bench',
      Labels: {},
      IPAM: { Config: [{ Subnet: SUBNET, Gateway: '127.50.0.1' }] },
    }
    containers = []
    const first = await startServer({ engine: true, dataDirectory })
    await first.stop()
    prepare(dataDirectory)
    const server = await startServer({ engine: true, dataDirectory })
    try {
      await delay(SETTLE_MS)
      const before = cpuSeconds(server.pid)
      await delay(WATCH_MS)
      return ((cpuSeconds(server.pid) - before) / (WATCH_MS / 1000)) * 100
    } finally {
      await server.stop()
    }
  } finally {
    rmSync(dataDirectory, { recursive: true, force: true })
  }
}

/** Creates live services with their instances, in the database and in the engine. */
function seed(dataDirectory: string, type: string, port: number | null): void {
  const database = new DatabaseSync(join(dataDirectory, 'deployer.db'))
  const environment = database.prepare('SELECT id FROM environments').get() as { id: string }
  const serverId = (
    database.prepare("SELECT value FROM settings WHERE key = 'server_id'").get() as { value: string }
  ).value
  const now = Date.now()
  database.exec('BEGIN')
  for (let index = 0; index < SERVICES; index++) {
    const service = `srv-${randomBytes(10).toString('hex')}`
    const deploy = `dep-${randomBytes(10).toString('hex')}`
    database
      .prepare(
        `INSERT INTO services (id, environment_id, name, type, runtime, image, instances, auto_deploy, deploy_hook_key,
           live_deploy_id, observed_generation, created_at, updated_at)
         VALUES (?, ?, ?, ?, 'image', 'busybox:1', ?, 1, 'x', ?, 1, ?, ?)`,
      )
      .run(service, environment.id, `service-${index}`, type, INSTANCES_EACH, deploy, now, now)
    database
      .prepare(
        `INSERT INTO deploys (id, sequence, service_id, status, trigger, source, image_id, port, was_live, created_at)
         VALUES (?, ?, ?, 'live', 'create', '{"kind":"image","repo_url":null,"branch":null,"commit":null}', 'sha256:0', 80, 1, ?)`,
      )
      .run(deploy, index + 1, service, now)
    for (let each = 0; each < INSTANCES_EACH; each++) {
      const instance = `${service}-${randomBytes(3).toString('hex').slice(0, 5)}`
      database
        .prepare(
          `INSERT INTO instances (id, service_id, deploy_id, status, address, upstream_host, upstream_port, created_at)
           VALUES (?, ?, ?, 'ready', '127.50.1.1', ?, ?, ?)`,
        )
        .run(instance, service, deploy, port === null ? null : '127.0.0.1', port, now)
      const labels = {
        'deployer.kind': 'instance',
        'deployer.service': service,
        'deployer.deploy': deploy,
        'deployer.server': serverId,
      }
      containers.push({
        Id: randomBytes(32).toString('hex'),
        Names: [`/${instance}`],
        ImageID: 'sha256:0',
        State: 'running',
        Labels: labels,
        Ports: [],
        NetworkSettings: { Networks: { bench: { IPAddress: '127.50.1.1' } } },
      })
    }
  }
  database.exec('COMMIT')
  database.close()
}

function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND
}
