// Deploys ten services again and again, as a year of daily deploys would, and prints what takes room by kind: it should stay
// flat once as much is kept as is ever kept. `DEPLOYS` and `SERVICES` set how many; a year of ten services is 3650.
import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import type { TestServer } from '../test/support/server.ts'
import { formatMib, withServer } from './lib/stand.ts'

const DEPLOYS = Number(process.env.DEPLOYS ?? 3_650)
const SERVICES = Number(process.env.SERVICES ?? 10)
/** How often sizes are printed. */
const LINES = 10
/** What each upload adds that no other has. */
const OWN_BYTES = 64 * 1024
/** As many deploys at one time as there are services would only wait for each other. */
const PARALLEL = 2

const KINDS = ['images', 'build_cache', 'archives', 'sites', 'logs', 'database', 'metrics']

await withServer(async (server) => {
  // The last service is built from a Dockerfile, the others are published folders.
  const names = Array.from({ length: SERVICES }, (_, index) => `service-${index}`)
  for (const [index, name] of names.entries()) {
    const type = index === SERVICES - 1 ? 'web_service' : 'static_site'
    await server.api('POST', '/services', { name, type })
  }
  console.log(`${DEPLOYS} deploys of ${SERVICES} services; sizes in MiB (number)`)
  console.log(['deploys'.padStart(7), ...KINDS.map((kind) => kind.padStart(16))].join(' '))
  const began = performance.now()
  let next = 0
  let done = 0
  const deployNext = async (): Promise<void> => {
    while (next < DEPLOYS) {
      const round = next++
      await deploy(server, names[round % SERVICES]!, round, round % SERVICES === SERVICES - 1)
      done++
      if (done % Math.ceil(DEPLOYS / LINES) === 0) await printSizes(server, done)
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, deployNext))
  console.log(`${((performance.now() - began) / 1_000 / DEPLOYS).toFixed(2)} s a deploy`)
  printRows(server)
})

async function deploy(server: TestServer, name: string, round: number, isBuilt: boolean): Promise<void> {
  const tar = pack()
  const own = Buffer.from(
    Array.from({ length: OWN_BYTES }, (_, at) => (at * (round + 7) * 2_654_435_761) >>> 13),
  )
  tar.entry({ name: 'index.html' }, `deploy ${round}`)
  tar.entry({ name: 'own' }, own)
  if (isBuilt)
    tar.entry(
      { name: 'Dockerfile' },
      'FROM busybox:1\nCOPY . /www\nCMD ["sh", "-c", "exec httpd -f -p $PORT -h /www"]\n',
    )
  tar.finalize()
  const archive = gzipSync(await buffer(tar))
  const { body } = await server.api('POST', `/services/${name}/deploys/upload`, archive)
  for (;;) {
    const { body: found } = await server.api('GET', `/deploys/${body.id}`)
    if (found.status === 'live' || found.status === 'deactivated') return
    if (found.finished_at !== null) throw new Error(`${body.id} ${found.status}: ${found.error}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function printSizes(server: TestServer, done: number): Promise<void> {
  await server.api('POST', '/server/cleanup')
  const { body } = await server.api('GET', '/server/disk')
  const shown = KINDS.map((kind) => {
    const { bytes, items } = body.kinds.find((each: { kind: string }) => each.kind === kind)
    return `${bytes === null ? '?' : formatMib(bytes)} (${items})`.padStart(16)
  })
  console.log([String(done).padStart(7), ...shown].join(' '))
}

/** The tables with most rows. */
function printRows(server: TestServer): void {
  const database = new DatabaseSync(join(server.dataDirectory, 'deployer.db'), { readOnly: true })
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as {
    name: string
  }[]
  const rows = tables
    .map(({ name }) => {
      const { count } = database.prepare(`SELECT count(*) AS count FROM "${name}"`).get() as { count: number }
      return { name, count }
    })
    .filter(({ count }) => count > SERVICES)
  database.close()
  console.log('rows:', rows.map(({ name, count }) => `${name} ${count}`).join(', '))
}
