// Measures a dry run of a blueprint with 200 resources, to be created or existing, and how long other requests wait in the
// meantime.
import type { TestServer } from '../test/support/server.ts'
import { median, percentile, withServer } from './lib/stand.ts'

const SERVICES = 180
const DATASTORES = 10
const GROUPS = 10
const RUNS = 20
/** How many lists of services are requested, one after another. */
const ANSWERS = 300
/** Nearly the max number of keys in a file. */
const WORST_LINES = 45_000
/** Runs before the measurement, so that the code is compiled. */
const WARM_UP = 3

await withServer(async (server) => {
  const made = project('kept', false)
  await server.api('POST', '/blueprints/apply', { yaml: made })
  await settled(server)
  await times('all 200 to be created  ', project('fresh', true), ' (aim: under 150 ms)')
  await times('all 200 unchanged      ', made, '')
  await times('one in ten to be changed', made.replaceAll('0:1', '0:2'), '')
  await waits('alone                   ', async () => {})
  await waits('during dry runs         ', async () => {
    await server.api('POST', '/blueprints/apply', { yaml: project('fresh', true), dry_run: true })
  })
  const worst = Array.from({ length: WORST_LINES }, (_, at) => `k${at}: 1`).join('\n')
  await waits('during the worst file   ', async () => {
    await server.api('POST', '/blueprints/apply', { yaml: worst, dry_run: true })
  })

  /** Measures how long a list of services takes while something else is requested all the time. */
  async function waits(name: string, work: () => Promise<void>): Promise<void> {
    let isOver = false
    const working = (async () => {
      while (!isOver) {
        await work()
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    })()
    const taken: number[] = []
    while (taken.length < ANSWERS) {
      const began = performance.now()
      await server.api('GET', '/services')
      taken.push(performance.now() - began)
    }
    isOver = true
    await working
    console.log(
      `GET /services, ${name} median ${median(taken).toFixed(1)} ms, p99 ${percentile(taken, 0.99).toFixed(1)} ms`,
    )
  }

  async function times(name: string, yaml: string, aim: string): Promise<void> {
    const taken: number[] = []
    for (let run = 0; run < WARM_UP + RUNS; run++) {
      const began = performance.now()
      const { status } = await server.api('POST', '/blueprints/apply', { yaml, dry_run: true })
      if (status !== 200) throw new Error(`the dry run was answered ${status}`)
      if (run >= WARM_UP) taken.push(performance.now() - began)
    }
    console.log(
      `a dry run, ${name} median ${median(taken).toFixed(0)} ms, p95 ${percentile(taken, 0.95).toFixed(0)} ms${aim}`,
    )
  }
})

/** Waits for the work after an apply: a new datastore needs the engine, which is missing here. */
async function settled(server: TestServer): Promise<void> {
  for (;;) {
    const { body } = await server.api('GET', '/datastores')
    if ((body as { status: string }[]).every(({ status }) => status !== 'creating')) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** Returns a file of 200 resources; without deploys, nothing is pulled. */
function project(prefix: string, deploys: boolean): string {
  const groups = Array.from(
    { length: GROUPS },
    (_, at) => `  - {name: ${prefix}-g${at}, vars: [{key: LEVEL, value: info}, {key: SEED, generate: true}]}`,
  )
  const stores = Array.from(
    { length: DATASTORES },
    (_, at) => `  - {name: ${prefix}-d${at}, kind: relational}`,
  )
  const services = Array.from(
    { length: SERVICES },
    (_, at) => `  - name: ${prefix}-s${at}
    image: registry.example.com/s${at}:1
    port: 3000
    deploy: ${deploys}
    env_groups: [${prefix}-g${at % GROUPS}]
    env:
      - {key: DATABASE_URL, from_datastore: {name: ${prefix}-d${at % DATASTORES}}}
      - {key: LEVEL, value: debug}
      - {key: OTHER, from_service: {name: ${prefix}-s${(at + 1) % SERVICES}, property: host}}`,
  )
  return ['env_groups:', ...groups, 'datastores:', ...stores, 'services:', ...services, ''].join('\n')
}
