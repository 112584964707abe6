// Measures the cost of metrics: reading a full history of one day as clients do, and rounds over a hundred containers.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { History } from '#server/metrics/history.ts'
import type { Reading } from '#server/metrics/reading.ts'
import { RANGES } from '#server/metrics/schema.ts'
import { waitFor } from '../test/support/wait.ts'
import { startServer, type TestServer } from '../test/support/server.ts'
import { median, percentile } from './lib/figures.ts'
import { cpuSeconds } from './lib/processes.ts'
import { withServer } from './lib/stand.ts'

const CONTAINERS = 100
const INSTANCES_PER_SERVICE = 20
const EVERY_MS = 10_000
const DAY_MS = 24 * 60 * 60 * 1_000
const WATCH_MS = 60_000
const BETWEEN_CALLS_MS = 10
/** Rounds begin 1 s into each 10 s; including the engine's responses they take no longer than this. */
const ROUND_BEGINS_MS = 1_000
const ROUND_MS = 2_000
const ANSWERS = 40
/** As the server does it. */
const ROUNDS_PER_SAVE = 6
const ROUNDS_PER_PRUNE = 60
const READY_LIMIT_MS = 240_000

const folder = mkdtempSync(join(tmpdir(), 'deployer-bench-'))
try {
  fillHistory()
  await measureAnswers()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
await withServer(measureRounds, ['--default-memory-mb', '16'])

/** Measures a history of one day of a hundred busy services with one instance each. */
function fillHistory(): void {
  const history = new History(join(folder, 'metrics.db'))
  const now = Date.now()
  const adding: number[] = []
  const saving: number[] = []
  const forgetting: number[] = []
  const timed = (times: number[], work: () => void) => {
    const began = performance.now()
    work()
    times.push(performance.now() - began)
  }
  for (let at = now - DAY_MS, round = 1; at <= now; at += EVERY_MS, round++) {
    const reading = busyReading()
    timed(adding, () => history.add(at, reading))
    if (round % ROUNDS_PER_PRUNE === 0) timed(forgetting, () => history.forget(at))
    if (round % ROUNDS_PER_SAVE === 0) timed(saving, () => history.save())
  }
  const summaryOf = (times: number[]) =>
    `median ${median(times).toFixed(1)} ms, longest ${Math.max(...times).toFixed(0)} ms`
  console.log(`a reading of ${CONTAINERS} containers and targets is added in ${summaryOf(adding)}`)
  console.log(`a minute is written in ${summaryOf(saving)}; old data is deleted in ${summaryOf(forgetting)}`)
  history.save()
  history.close()
}

/** Measures the time from a client's request to the last byte of the response. */
async function measureAnswers(): Promise<void> {
  const server = await startServer({ dataDirectory: folder })
  try {
    for (const range of RANGES) {
      const times: number[] = []
      let bytes = 0
      for (let round = 0; round < ANSWERS; round++) {
        const began = performance.now()
        const answer = await fetch(`${server.url}/api/v1/server/metrics/history?range=${range}`, {
          headers: { authorization: `Bearer ${server.token}` },
        })
        bytes = (await answer.arrayBuffer()).byteLength
        times.push(performance.now() - began)
      }
      console.log(
        `history of ${range.padEnd(3)} answered in median ${median(times).toFixed(0)} ms, longest ${Math.max(...times).toFixed(0)} ms, ${(bytes / 1024).toFixed(0)} KiB (aim: under 50 ms)`,
      )
    }
  } finally {
    await server.stop()
  }
}

function busyReading(): Reading {
  const numbers = Array.from({ length: CONTAINERS }, (_, index) => index)
  return {
    host: {
      cpu_percent: 50,
      memory_used_bytes: 1e9,
      memory_total_bytes: 4e9,
      disk_read_bytes_per_sec: 1,
      disk_write_bytes_per_sec: 1,
      network_rx_bytes_per_sec: 1,
      network_tx_bytes_per_sec: 1,
    },
    disks: [],
    containers: numbers.map((number) => ({
      id: `srv-${number}`,
      name: `service-${number}`,
      kind: 'service',
      node: 'nod-1',
      container: `srv-${number}-instance`,
      cpuPercent: Math.random() * 100,
      memoryBytes: 1e8,
      cpuLimit: 1,
      memoryLimitBytes: 1e9,
    })),
    requests: {
      seconds: 10,
      targets: numbers.map((number) => ({
        target: `srv-${number}`,
        name: `service-${number}`,
        statuses: [100, 1, 1, 0],
        buckets: Array.from({ length: 31 }, (_, bucket) => (bucket > 5 && bucket < 15 ? 10 : 0)),
      })),
    },
  }
}

async function measureRounds(server: TestServer, dockerHost: string): Promise<void> {
  await watch(server, 'no container')
  for (let number = 0; number < CONTAINERS / INSTANCES_PER_SERVICE; number++) {
    await server.api('POST', '/services', {
      name: `idle-${number}`,
      image: 'busybox:1',
      type: 'background_worker',
      instances: INSTANCES_PER_SERVICE,
      start_command: 'sleep 1000000',
    })
  }
  const areMeasured = async () =>
    (await server.api('GET', '/server/metrics')).body.containers?.length === CONTAINERS
  await waitFor(areMeasured, 'the containers', READY_LIMIT_MS)
  await delay(EVERY_MS)
  await watch(server, `${CONTAINERS} containers`)
  const { stdout } = await promisify(execFile)('docker', ['-H', dockerHost, 'ps', '-q'])
  console.log(`(the engine runs ${stdout.trim().split('\n').length} containers in all)`)
}

async function watch(server: TestServer, what: string): Promise<void> {
  const during: number[] = []
  const between: number[] = []
  const before = cpuSeconds(server.pid)
  await delay(WATCH_MS)
  const share = ((cpuSeconds(server.pid) - before) / (WATCH_MS / 1_000)) * 100
  const began = performance.now()
  while (performance.now() - began < WATCH_MS) {
    const isMeasured = (Date.now() - ROUND_BEGINS_MS + EVERY_MS) % EVERY_MS < ROUND_MS
    const start = performance.now()
    await server.api('GET', '/env-groups')
    const times = isMeasured ? during : between
    times.push(performance.now() - start)
    await delay(BETWEEN_CALLS_MS)
  }
  console.log(
    `${what.padEnd(16)} ${share.toFixed(2)} % of a core (aim: measuring adds under 2 %); API while a round is measured ${figuresOf(during)}; between ${figuresOf(between)}`,
  )
}

function figuresOf(times: number[]): string {
  return `median ${percentile(times, 0.5).toFixed(1)} ms, p99 ${percentile(times, 0.99).toFixed(1)} ms (${times.length} calls)`
}
