import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cpuSeconds } from '../lib/processes.ts'
import { LOAD_CORE, type Program } from './programs.ts'

const run = promisify(execFile)

/** What a browser sends: about 350 bytes with the request line. */
const BROWSER_FIELDS = [
  'User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0',
  'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'Accept-Language: en-US,en;q=0.5',
  'Accept-Encoding: gzip, deflate',
  'Cookie: session=0123456789abcdef0123456789abcdef; theme=dark',
  'Upgrade-Insecure-Requests: 1',
]

/** The results of a load. */
export interface LoadFigures {
  perSecond: number
  /** CPU time of all processes of the proxy, per request. */
  cpuMicroseconds: number
  /** How much of a core the proxy used: below 1, the load generator or the upstream was the limit. */
  cores: number
  /** The time within which 99 % of the answers came. */
  p99Ms: number
}

/** A load over HTTP/1.1, kept alive. */
export interface Http1Load {
  url: string
  host: string
  connections: number
  seconds: number
  cores?: string
  /** Further fields of each request. */
  fields?: string[]
}

/** Loads a proxy with wrk. Throws if any request failed. */
export function loadHttp1(program: Program, load: Http1Load): Promise<LoadFigures> {
  const { url, host, connections, seconds, cores = LOAD_CORE, fields: more = [] } = load
  const fields = [`Host: ${host}`, ...BROWSER_FIELDS, ...more].flatMap((field) => ['-H', field])
  return measured(program, async () => {
    const args = ['-t1', `-c${connections}`, `-d${seconds}`, '--latency', ...fields, url]
    const { stdout } = await run('taskset', ['-c', cores, 'wrk', ...args])
    const fault = /Non-2xx.*|Socket errors.*/.exec(stdout)?.[0]
    if (fault) throw new Error(`wrk: ${fault}`)
    const [, p99 = '', unit = ''] = /99%\s+([\d.]+)(us|ms|s)/.exec(stdout) ?? []
    return {
      requests: Number(/(\d+) requests in/.exec(stdout)?.[1]),
      perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]),
      p99Ms: Number(p99) * ({ us: 0.001, ms: 1, s: 1000 }[unit] ?? Number.NaN),
    }
  })
}

/** Concurrent streams over some HTTP/2 connections. */
export interface Http2Load {
  url: string
  connections: number
  streams: number
  seconds: number
  /** The file that each request uploads, if any. */
  upload?: string
}

/** Loads a proxy with h2load. Throws if any request failed. */
export function loadHttp2(program: Program, load: Http2Load): Promise<LoadFigures> {
  const { connections, streams, seconds, upload } = load
  // The window sizes of browsers, not the initial 64 KiB.
  const windows = ['-w', '23', '-W', '24']
  const address = `--connect-to=127.0.0.1:${program.securePort}`
  return runH2load(program, load.url, [
    `-c${connections}`,
    `-m${streams}`,
    `-D${seconds}`,
    ...windows,
    ...(upload ? ['-d', upload] : []),
    address,
  ])
}

/** Opens TLS connections at a steady rate, each for one HTTP/1.1 request. h2load resumes no sessions. */
export function loadHandshakes(
  program: Program,
  load: { url: string; perSecond: number; seconds: number },
): Promise<LoadFigures> {
  const { perSecond, seconds } = load
  const connections = perSecond * seconds
  // A few every 10 ms, because opening all of a second at once would make them wait for each other.
  const rate = [`-r${perSecond / 100}`, '--rate-period=10ms']
  return runH2load(program, load.url, ['--h1', `-c${connections}`, `-n${connections}`, ...rate])
}

function runH2load(program: Program, url: string, args: string[]): Promise<LoadFigures> {
  const fields = BROWSER_FIELDS.flatMap((field) => ['-H', field])
  const folder = mkdtempSync(join(tmpdir(), 'deployer-h2load-'))
  const log = join(folder, 'requests')
  return measured(program, async () => {
    const logged = [`--log-file=${log}`, ...args, ...fields, url]
    const { stdout } = await run('taskset', ['-c', LOAD_CORE, 'h2load', ...logged])
    const [, total, succeeded] = /(\d+) done, (\d+) succeeded/.exec(stdout) ?? []
    if (!succeeded || total !== succeeded) {
      throw new Error(`h2load: ${/^requests:.*$/m.exec(stdout)?.[0] ?? 'no requests'}`)
    }
    const perSecond = Number(/([\d.]+) req\/s/.exec(stdout)?.[1])
    return { requests: Number(succeeded), perSecond, p99Ms: p99Of(log) }
  }).finally(() => rmSync(folder, { recursive: true }))
}

/** Returns the p99 of h2load's log, in whose lines the third number is a request's duration in microseconds. */
function p99Of(log: string): number {
  const times = readFileSync(log, 'latin1')
    .trimEnd()
    .split('\n')
    .map((line) => Number(line.split('\t')[2]))
    .toSorted((left, right) => left - right)
  return times[Math.floor(times.length * 0.99)]! / 1000
}

/** Adds what the load cost the proxy. */
async function measured(
  program: Program,
  load: () => Promise<{ requests: number; perSecond: number; p99Ms: number }>,
): Promise<LoadFigures> {
  const pids = program.pids()
  const used = () => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0)
  const before = used()
  const began = performance.now()
  const { requests, perSecond, p99Ms } = await load()
  const cpu = used() - before
  const cores = cpu / ((performance.now() - began) / 1000)
  return { perSecond, p99Ms, cores, cpuMicroseconds: (cpu * 1e6) / requests }
}
