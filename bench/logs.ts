// A busy log with a thousand followers: what the API answers meanwhile, what the server needs, and what the followers get.
import { execFile } from 'node:child_process'
import { request, type IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { waitFor } from '../test/support/wait.ts'
import type { TestServer } from '../test/support/server.ts'
import { cpuSeconds, residentBytes } from './lib/processes.ts'
import { formatMib, percentile, withServer } from './lib/stand.ts'

const FOLLOWERS = 1_000
const LINES_PER_SECOND = 1_000
const WATCH_MS = 20_000
const BETWEEN_CALLS_MS = 20
const DEPLOY_LIMIT_MS = 60_000
const BURST_LINES = 100_000

await withServer(async (server, dockerHost) => {
  const { body: service } = await server.api('POST', '/services', {
    name: 'busy',
    image: 'busybox:1',
    type: 'background_worker',
    start_command: 'sleep 1000000',
  })
  const deploy = `/deploys/${service.latest_deploy.id}`
  await waitFor(
    async () => (await server.api('GET', deploy)).body.status === 'live',
    'the deploy',
    DEPLOY_LIMIT_MS,
  )
  const { stdout } = await promisify(execFile)('docker', [
    '-H',
    dockerHost,
    'ps',
    '-q',
    '--filter',
    `label=deployer.service=${service.id}`,
  ])
  const print = (command: string) =>
    promisify(execFile)('docker', [
      '-H',
      dockerHost,
      'exec',
      stdout.trim(),
      'sh',
      '-c',
      `(${command}) > /proc/1/fd/1`,
    ])

  const one = await follow(server)
  const began = performance.now()
  await print(`seq 1 ${BURST_LINES}; echo last`)
  await waitFor(() => one.isOver(), 'the last line', DEPLOY_LIMIT_MS)
  console.log(
    `one follower, ${BURST_LINES} lines at once: ${one.lines() - 1} came, ${one.lost()} said to be lost, in ${(performance.now() - began).toFixed(0)} ms`,
  )
  one.close()

  await measure(server, 'nobody follows')
  const joinBegan = performance.now()
  const followers = await Promise.all(Array.from({ length: FOLLOWERS }, () => follow(server)))
  console.log(`${FOLLOWERS} followers joined in ${(performance.now() - joinBegan).toFixed(0)} ms`)
  await measure(server, `${FOLLOWERS} follow, nothing is printed`)
  const rounds = Math.ceil(WATCH_MS / 100) + 50
  const printing = print(
    `for n in $(seq 1 ${rounds}); do seq 1 ${LINES_PER_SECOND / 10}; sleep 0.1; done; echo last`,
  )
  await measure(server, `${FOLLOWERS} follow, ${LINES_PER_SECOND} lines/s`)
  await printing
  await waitFor(() => followers.every(({ isOver }) => isOver()), 'the last lines', DEPLOY_LIMIT_MS)
  const lost = followers.map((follower) => follower.lost())
  const wrong = followers.filter(
    (follower) => follower.lines() - 1 + follower.lost() !== (rounds * LINES_PER_SECOND) / 10,
  )
  console.log(
    `lines said to be lost: ${Math.max(...lost)} at most; followers whose count is not whole: ${wrong.length}`,
  )
  for (const follower of followers) follower.close()
}, [])

interface Follower {
  lines(): number
  lost(): number
  isOver(): boolean
  close(): void
}

/** Counts what one follower gets, without taking it apart: the other end of this machine is busy enough. */
async function follow(server: TestServer): Promise<Follower> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const outgoing = request(
    `${server.url}/api/v1/services/busy/logs?follow&tail=0&access_token=${server.token}`,
    resolve,
  )
  outgoing.on('error', reject)
  outgoing.end()
  const response = await promise
  let lines = 0
  let lost = 0
  let over = false
  let rest = ''
  response.setEncoding('latin1').on('data', (chunk: string) => {
    const text = rest + chunk
    const end = text.lastIndexOf('\n\n') + 2
    rest = text.slice(Math.max(1, end))
    if (end < 2) return void (rest = text)
    const whole = text.slice(0, end)
    for (const [, count] of whole.matchAll(/"(\d+) lines? (?:was|were) lost here/g)) lost += Number(count)
    for (let at = whole.indexOf('"stdout"'); at !== -1; at = whole.indexOf('"stdout"', at + 1)) lines++
    over ||= whole.includes('"line":"last"')
  })
  response.on('error', () => {})
  return { lines: () => lines, lost: () => lost, isOver: () => over, close: () => outgoing.destroy() }
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
  const share = ((cpuSeconds(server.pid) - cpu) / ((performance.now() - began) / 1_000)) * 100
  console.log(
    `${what.padEnd(40)} API median ${percentile(times, 0.5).toFixed(1)} ms, p99 ${percentile(times, 0.99).toFixed(1)} ms, longest ${Math.max(...times).toFixed(0)} ms; ${formatMib(residentBytes(server.pid))} resident, ${share.toFixed(0)} % of a core`,
  )
}
