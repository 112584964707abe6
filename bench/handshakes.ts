// Measures what a handshake costs with few and with many certificates, and how soon many are served after a start.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import type { ProxyClient } from '../daemon/proxy/client.ts'
import { connectOwnProxy } from '../daemon/proxy/own-proxy.ts'
import { bundleProxy } from '../modules/proxy.ts'
import type { RouteTable } from '../proxy/protocol.ts'
import { median } from './lib/stand.ts'

const FEW = 10
const MANY = 10_000
/** Few and many alternate, so that other work on the machine affects both equally. */
const ROUNDS = 20
const HANDSHAKES_PER_ROUND = 50
const SHOWN = 1_000
const STARTS = 5
const FIRST_HOST = hostOf(0)

const folder = mkdtempSync(join(tmpdir(), 'deployer-handshakes-'))
const program = join(folder, 'proxy.mjs')
bundleProxy(join(import.meta.dirname, '..'), program)
makeCertificate(join(folder, 'model'))
for (let index = 0; index < MANY; index++) {
  mkdirSync(join(folder, hostOf(index)))
  for (const end of ['crt', 'key'])
    copyFileSync(join(folder, `model.${end}`), join(folder, hostOf(index), `model.${end}`))
}
const few = await start('few', FEW)
const many = await start('many', MANY)
try {
  const times = { few: [] as number[], many: [] as number[] }
  for (let round = 0; round < ROUNDS; round++) {
    times.few.push(await handshakes(few, FEW))
    times.many.push(await handshakes(many, MANY))
  }
  const [among10, among10000] = [median(times.few), median(times.many)]
  console.log(
    `a handshake          ${among10.toFixed(2)} ms among ${FEW} certificates, ${among10000.toFixed(2)} ms among ${MANY.toLocaleString('en')} (${(among10000 / among10).toFixed(2)} times; aim: the same)`,
  )
  const [shownFew, shownMany] = [await untilShown(FEW), await untilShown(SHOWN)]
  console.log(
    `from start to served ${shownFew.toFixed(0)} ms for ${FEW} certificates, ${shownMany.toFixed(0)} ms for ${SHOWN.toLocaleString('en')} (medians of ${STARTS}; aim: 1,000 ms)`,
  )
} finally {
  await few.stopAll()
  await many.stopAll()
  rmSync(folder, { recursive: true, force: true })
}

function hostOf(index: number): string {
  return `host-${index}.test`
}

function start(name: string, hosts: number): Promise<ProxyClient> {
  const dataDirectory = join(folder, `data-${name}`)
  mkdirSync(dataDirectory)
  const names = Array.from({ length: hosts }, (_, index) => hostOf(index))
  const files = (host: string) => ({
    certificate: join(folder, host, 'model.crt'),
    key: join(folder, host, 'model.key'),
  })
  const table: RouteTable = {
    version: 1,
    listeners: [{ address: '127.0.0.1:0', protocol: 'https' }],
    hosts: Object.fromEntries(names.map((host) => [host, 'app'])),
    targets: { app: { id: 'app', state: 'suspended', upstreams: [] } },
    zones: {},
    certificates: Object.fromEntries(names.map((host) => [host, files(host)])),
    acme_challenges: {},
    tls_challenges: {},
    verification_key: '',
    hsts_seconds: 0,
    h2c: false,
    trusted_proxies: [],
    upstream_timeout_ms: 30_000,
    max_connections_per_ip: 10_000,
  }
  return connectOwnProxy({
    dataDirectory,
    serverId: 'bench',
    version: '0',
    program,
    node: process.execPath,
    workers: 1,
    log: () => {},
    table,
  })
}

/** Returns the time from the start of a data plane to the handshake for its last host. */
async function untilShown(hosts: number): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < STARTS; round++) {
    const began = performance.now()
    const fresh = await start(`fresh-${hosts}-${round}`, hosts)
    await handshake(fresh, hostOf(hosts - 1))
    times.push(performance.now() - began)
    await fresh.stopAll()
  }
  return median(times)
}

/** Returns the mean of some full handshakes, for hosts that were requested before: reading their files is not part of it. */
async function handshakes(client: ProxyClient, hosts: number): Promise<number> {
  const asked = Array.from({ length: FEW }, (_, index) => hostOf(Math.floor((index * hosts) / FEW)))
  for (const host of asked) await handshake(client, host)
  const began = performance.now()
  for (let index = 0; index < HANDSHAKES_PER_ROUND; index++) await handshake(client, asked[index % FEW]!)
  return (performance.now() - began) / HANDSHAKES_PER_ROUND
}

async function handshake(client: ProxyClient, host: string): Promise<void> {
  const { port } = client.bound[0]!
  const socket = connect({ host: '127.0.0.1', port, servername: host, rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  socket.destroy()
}

function makeCertificate(path: string): void {
  const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const files = ['-keyout', `${path}.key`, '-out', `${path}.crt`]
  execFileSync('openssl', [...request, '-subj', `/CN=${FIRST_HOST}`, '-days', '30', ...files], {
    stdio: 'ignore',
  })
}
