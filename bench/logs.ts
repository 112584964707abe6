// Measures a busy log with a thousand followers: API response times, the server's load, and what the followers receive.
import { execFile } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { waitFor } from '../test/support/wait.ts'
import type { TestServer } from '../test/support/server.ts'
import { followMany } from './lib/log-followers.ts'
import { cpuSeconds, residentBytes } from './lib/processes.ts'
import { formatMib, percentile, withServer } from './lib/stand.ts'

const FOLLOWERS = 1_000
const LINES_PER_SECOND = 200
const WATCH_MS = 15_000
const BETWEEN_CALLS_MS = 20
const DEPLOY_LIMIT_MS = 60_000
const BURST_LINES = 100_000
const RATE_LINES = 20_000
const RATE_STEP = 1_000
const RATE_SECONDS = 15
const RATE_KEPT = 100_000
/** More than the server accepts: 64 MiB at once, and 12 MiB a second. */
const FLOOD_LINES = 3_000_000
const FLOOD_PADDING = 'x'.repeat(90)

await withServer(async (server, dockerHost) => {
  const docker = async (...args: string[]) =>
    (await promisify(execFile)('docker', ['-H', dockerHost, ...args])).stdout.trim()
  const { body: service } = await server.api('POST', '/services', {
    name: 'busy',
    image: 'busybox:1',
    type: 'background_worker',
    start_command: 'sleep 1000000',
  })
  const deploy = `/deploys/${service.latest_deploy.id}`
  const isLive = async () => (await server.api('GET', deploy)).body.status === 'live'
  await waitFor(isLive, 'the deploy', DEPLOY_LIMIT_MS)
  const container = await docker('ps', '-q', '--filter', `label=deployer.service=${service.id}`)
  const print = (command: string) => docker('exec', container, 'sh', '-c', `(${command}) > /proc/1/fd/1`)
  const url = `${server.url}/api/v1/services/busy/logs?follow&tail=0&access_token=${server.token}`

  const one = await followMany(url, 1)
  const began = performance.now()
  await print(`seq 1 ${BURST_LINES}; echo last`)
  const burst = await one.finished
  const burstMs = performance.now() - began
  console.log(
    `one follower, ${BURST_LINES} lines at once: ${burst.fewest - 1} received, ${burst.lost} reported lost, in ${burstMs.toFixed(0)} ms`,
  )
  await one.close()

  await measureRate(server, url, print)
  await measureFlood(server, url, print)
  await measure(server, 'no followers')
  const joining = performance.now()
  const many = await followMany(url, FOLLOWERS)
  console.log(`${FOLLOWERS} followers joined in ${(performance.now() - joining).toFixed(0)} ms`)
  await measure(server, `${FOLLOWERS} followers, no output`)
  const rounds = (WATCH_MS / 1_000 + 5) * 10
  const printing = print(
    `for n in $(seq 1 ${rounds}); do seq 1 ${LINES_PER_SECOND / 10}; sleep 0.1; done; echo last`,
  )
  await measure(server, `${FOLLOWERS} followers, ${LINES_PER_SECOND} lines/s`)
  await printing
  const report = await many.finished
  const printed = (rounds * LINES_PER_SECOND) / 10
  console.log(
    `of ${printed} lines the slowest follower received ${report.fewest - 1}, and ${report.lost} were reported lost; followers with other sums: ${report.wrong}`,
  )
  await measureBurst(server, print, BURST_LINES / 10)
  await many.close()
})

/** Measures the rate at which one program's output reaches one follower and the store. */
async function measureRate(
  server: TestServer,
  url: string,
  print: (command: string) => Promise<string>,
): Promise<void> {
  const before = residentBytes(server.pid)
  let peak = before
  const watch = setInterval(() => (peak = Math.max(peak, residentBytes(server.pid))), 100)
  const follower = await followMany(url, 1)
  const cpu = cpuSeconds(server.pid)
  const began = performance.now()
  const rounds = (RATE_LINES * RATE_SECONDS) / RATE_STEP
  await print(
    `for n in $(seq 1 ${rounds}); do seq 1 ${RATE_STEP}; sleep ${RATE_STEP / RATE_LINES - 0.005}; done; echo last`,
  )
  const { fewest, lost } = await follower.finished
  const seconds = (performance.now() - began) / 1_000
  const share = ((cpuSeconds(server.pid) - cpu) / seconds) * 100
  clearInterval(watch)
  await follower.close()
  const { body } = await server.api(
    'GET',
    `/services/busy/logs?tail=${RATE_KEPT}&since=${Math.ceil(seconds) + 1}s`,
  )
  const stored = (body as string).split('event: log').length - 2
  console.log(
    `one program, ${((fewest - 1) / seconds).toFixed(0)} lines/s for ${seconds.toFixed(0)} s: ${fewest - 1} of ${RATE_LINES * RATE_SECONDS} received, ${lost} reported lost; ${stored} of the last ${RATE_KEPT} are stored; ${share.toFixed(0)} % of a core, ${formatMib(peak - before)} more`,
  )
}

/** Prints more than the server accepts: what is missing must be reported, and nothing may pile up. */
async function measureFlood(
  server: TestServer,
  url: string,
  print: (command: string) => Promise<string>,
): Promise<void> {
  const before = residentBytes(server.pid)
  let peak = before
  const watch = setInterval(() => (peak = Math.max(peak, residentBytes(server.pid))), 100)
  const follower = await followMany(url, 1)
  const began = performance.now()
  await print(`seq 1 ${FLOOD_LINES} | sed "s/$/ ${FLOOD_PADDING}/"; sleep 2; echo last`)
  const { fewest, lost } = await follower.finished
  const seconds = (performance.now() - began) / 1_000
  clearInterval(watch)
  await follower.close()
  console.log(
    `one program, ${FLOOD_LINES} lines of 100 bytes in ${seconds.toFixed(0)} s: ${fewest - 1} received, ${lost} reported lost, ${FLOOD_LINES - (fewest - 1) - lost} lost without a report; ${formatMib(peak - before)} more`,
  )
}

/** Prints more at once than a thousand readers on this machine can take. */
async function measureBurst(
  server: TestServer,
  print: (command: string) => Promise<string>,
  lines: number,
): Promise<void> {
  const printing = print(`seq 1 ${lines}`)
  await measure(server, `${FOLLOWERS} followers, ${lines} lines at once`)
  await printing
}

async function measure(server: TestServer, what: string): Promise<void> {
  const times: number[] = []
  const cpu = cpuSeconds(server.pid)
  const began = performance.now()
  while (performance.now() - began < WATCH_MS) {
    const start = performance.now()
    await server.api('GET', '/services')
    times.push(performance.now() - start)
    await delay(BETWEEN_CALLS_MS)
  }
  const seconds = (performance.now() - began) / 1_000
  const share = ((cpuSeconds(server.pid) - cpu) / seconds) * 100
  console.log(
    `${what.padEnd(42)} API median ${percentile(times, 0.5).toFixed(1)} ms, p99 ${percentile(times, 0.99).toFixed(1)} ms, longest ${Math.max(...times).toFixed(0)} ms; ${formatMib(residentBytes(server.pid))} resident, ${share.toFixed(0)} % of a core`,
  )
}
