// Measures how soon a new host has a certificate, how soon 1,000 certificates are served after a start, and what renewing
// them costs the API.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { startPlace, type Place } from '../test/acme/place.ts'
import { builtServer } from '../test/support/build.ts'
import { median } from './lib/stand.ts'

const NEW_HOSTS = 10
const SERVICES = 10
const HOSTS_PER_SERVICE = 100
const API_MS = 20_000
const DAY_MS = 24 * 3_600_000

const place = await startPlace()
try {
  const waits: number[] = []
  for (let index = 0; index < NEW_HOSTS; index++) {
    const began = performance.now()
    await place.server.api('POST', '/services', { name: `new${index}` })
    await place.reaches(`new${index}.example.com`, 'issued')
    waits.push(performance.now() - began)
  }
  console.log(`certificate for a new host     median ${median(waits).toFixed(0)} ms (aim: at most 5000 ms)`)
  const last = await addHosts(place)
  await stopAll(place)
  giveCertificates(place, Date.now() + 60 * DAY_MS)
  const began = performance.now()
  await Promise.all([place.server.restart(), untilShown(place, last)])
  console.log(
    `1,000 certificates are served  ${(performance.now() - began).toFixed(0)} ms after the server's start`,
  )
  // The same number of hosts and the same uptime as in the next measurement, but no renewal is due.
  const idle = await apiP99(place)
  await place.server.kill('SIGTERM')
  giveCertificates(place, Date.now() - DAY_MS)
  await place.server.restart()
  const renewing = await apiP99(place)
  const orders = place.authority.log.split('/order-plz -> calling').length - 1 - NEW_HOSTS
  console.log(
    `p99 of GET /services           ${idle.toFixed(1)} ms idle, ${renewing.toFixed(1)} ms while 1,000 hosts are renewed, ${orders} ordered (aim: at most 1.5 times)`,
  )
} finally {
  await place.stop()
}

async function apiP99({ server }: Place): Promise<number> {
  const times: number[] = []
  const until = performance.now() + API_MS
  while (performance.now() < until) {
    const began = performance.now()
    await server.api('GET', '/services/new0')
    times.push(performance.now() - began)
  }
  return times.toSorted((left, right) => left - right)[Math.floor(times.length * 0.99)]!
}

async function addHosts({ server }: Place): Promise<string> {
  for (let index = 0; index < SERVICES; index++)
    await server.api('POST', '/services', {
      name: `many${index}`,
      custom_domains: Array.from(
        { length: HOSTS_PER_SERVICE },
        (_, host) => `h${host}.s${index}.example.net`,
      ),
    })
  return `h${HOSTS_PER_SERVICE - 1}.s${SERVICES - 1}.example.net`
}

async function stopAll({ server }: Place): Promise<void> {
  await server.kill('SIGTERM')
  execFileSync(process.execPath, [await builtServer(), 'stop', '--all', '--data-dir', server.dataDirectory])
}

/** Writes a certificate for every host, as if each had been issued; all share one key and one text. */
function giveCertificates({ server, authority }: Place, renewAt: number): void {
  const folder = join(server.dataDirectory, 'certificates')
  const model = join(folder, 'model')
  mkdirSync(model, { recursive: true })
  const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const files = ['-keyout', join(model, 'v.privkey.pem'), '-out', join(model, 'v.fullchain.pem')]
  execFileSync('openssl', [...request, '-subj', '/CN=bench', '-days', '90', ...files], { stdio: 'ignore' })
  writeFileSync(join(model, 'fullchain.pem'), readFileSync(join(model, 'v.fullchain.pem')))
  const database = new DatabaseSync(join(server.dataDirectory, 'deployer.db'))
  const insert = database.prepare(
    `INSERT OR REPLACE INTO certificates
       (id, status, directory, version, issuer, not_before, not_after, renew_at, advised_until, created_at, updated_at)
     VALUES (?, 'issued', ?, 'v', 'bench', ?, ?, ?, ?, 0, 0)`,
  )
  const now = Date.now()
  const [born, end] = [now - 60 * DAY_MS, now + 30 * DAY_MS]
  database.exec('BEGIN')
  for (let service = 0; service < SERVICES; service++)
    for (let index = 0; index < HOSTS_PER_SERVICE; index++) {
      const host = `h${index}.s${service}.example.net`
      cpSync(model, join(folder, host), { recursive: true })
      insert.run(host, authority.directory, born, end, renewAt, end)
    }
  database.exec('COMMIT')
  database.close()
}

async function untilShown(place: Place, host: string): Promise<void> {
  for (;;) {
    const isShown = await place.shown(host, { rejectUnauthorized: false }).then(
      () => true,
      () => false,
    )
    if (isShown) return
    await new Promise((resolve) => void setTimeout(resolve, 10))
  }
}
