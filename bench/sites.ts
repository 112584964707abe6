// A site of the data plane against nginx with sendfile: files of 1 KiB and 1 MiB over 64 kept-alive connections, loaded
// by wrk. Server pinned to core 1, load to core 0. Launches alternate; medians are printed.
import { randomBytes } from 'node:crypto'
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ProxyClient } from '../daemon/proxy/client.ts'
import { bundleProxy } from '../modules/proxy.ts'

const ROUNDS = 3
const SECONDS = 4
const CONNECTIONS = 64
const NGINX_PORT = 18_803
const FILES = [
  { name: 'small.html', label: '1 KiB', bytes: 1024 },
  { name: 'large.bin', label: '1 MiB', bytes: 1024 * 1024 },
]

interface Figures {
  perSecond: number
  p99Ms: number
  cpuMicroseconds: number
}

const folder = mkdtempSync(join(tmpdir(), 'deployer-bench-'))
// nginx reads as a user of its own.
chmodSync(folder, 0o755)
const site = join(folder, 'site')
let nginx: ChildProcess | null = null
try {
  mkdirSync(join(site, 'files'), { recursive: true })
  for (const { name, bytes } of FILES) writeFileSync(join(site, 'files', name), randomBytes(bytes))
  nginx = startNginx()
  const program = join(folder, 'proxy.mjs')
  bundleProxy(join(import.meta.dirname, '..'), program)
  const client = await ProxyClient.connect({
    dataDirectory: folder,
    serverId: 'bench',
    version: '0',
    program,
    node: process.execPath,
    workers: 1,
    log: () => {},
    table: {
      version: 1,
      listeners: [{ address: '127.0.0.1:0', protocol: 'http' }],
      hosts: { 'app.test': 'app' },
      targets: { app: { id: 'app', state: 'serving', upstreams: [], site: { folder: site, earlier: [] } } },
      zones: {},
      certificates: {},
      acme_challenges: {},
      hsts_seconds: 0,
      trusted_proxies: [],
      upstream_timeout_ms: 30_000,
      max_connections_per_ip: 2_000,
    },
  })
  const worker = workerOf(folder)
  execFileSync('taskset', ['-a', '-p', '-c', '1', String(worker)], { stdio: 'ignore' })
  await sleep(500)
  for (const { name, label } of FILES) {
    const ours: Figures[] = []
    const theirs: Figures[] = []
    for (let round = 0; round < ROUNDS; round++) {
      theirs.push(load(NGINX_PORT, name, childrenOf(nginx.pid!)[0]!))
      ours.push(load(client.bound[0]!.port, name, worker))
    }
    print(`${label}   nginx`, theirs)
    print(`${label}   site `, ours)
    const ratio = median(ours.map((own, index) => own.perSecond / theirs[index]!.perSecond))
    const cpu = median(ours.map((own, index) => theirs[index]!.cpuMicroseconds / own.cpuMicroseconds))
    console.log(
      `${label}   site / nginx   ${ratio.toFixed(2)} of the rate, ${cpu.toFixed(2)} by CPU per request`,
    )
  }
  await client.stopAll()
} finally {
  nginx?.kill()
  rmSync(folder, { recursive: true, force: true })
}

function startNginx(): ChildProcess {
  const file = join(folder, 'nginx.conf')
  writeFileSync(
    file,
    `daemon off; worker_processes 1; pid ${join(folder, 'nginx.pid')}; error_log /dev/null;
events { worker_connections 1024; }
http { access_log off; keepalive_requests 1000000000; sendfile on; tcp_nopush on; types { text/html html; }
server { listen 127.0.0.1:${NGINX_PORT}; root ${join(site, 'files')}; } }`,
  )
  return spawn('taskset', ['-c', '1', 'nginx', '-p', folder, '-c', file], { stdio: 'ignore' })
}

function load(port: number, name: string, pid: number): Figures {
  const before = cpuSeconds(pid)
  const options = ['-c', '0', 'wrk', '-t1', `-c${CONNECTIONS}`, `-d${SECONDS}`, '--latency']
  const headers = [
    'Host: app.test',
    'User-Agent: Mozilla/5.0 (X11; Linux x86_64)',
    'Accept: text/html,*/*',
    'Accept-Encoding: gzip',
    'Cookie: session=0123456789',
  ]
  const output = spawnSync('taskset', [
    ...options,
    ...headers.flatMap((header) => ['-H', header]),
    `http://127.0.0.1:${port}/${name}`,
  ])
  const text = output.stdout.toString()
  const errors = /Non-2xx.*|Socket errors.*/.exec(text)?.[0]
  if (errors) console.log(`port ${port}: ${errors}`)
  const requests = Number(/(\d+) requests in/.exec(text)![1])
  const [, p99, unit] = /99%\s+([\d.]+)(us|ms|s)/.exec(text)!
  return {
    perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(text)![1]),
    p99Ms: Number(p99) * { us: 0.001, ms: 1, s: 1000 }[unit as 'us' | 'ms' | 's'],
    cpuMicroseconds: ((cpuSeconds(pid) - before) * 1e6) / requests,
  }
}

function print(name: string, figures: Figures[]): void {
  const of = (pick: (figures: Figures) => number) => median(figures.map(pick))
  const rate = of(({ perSecond }) => perSecond).toFixed(0)
  const p99 = of(({ p99Ms }) => p99Ms).toFixed(2)
  console.log(
    `${name}   ${rate.padStart(7)} requests/s   p99 ${p99} ms   ${of(({ cpuMicroseconds }) => cpuMicroseconds).toFixed(1)} us CPU a request`,
  )
}

function median(values: number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)]!
}

function workerOf(directory: string): number {
  const file = readdirSync(join(directory, 'proxy')).find((name) => name.startsWith('worker-'))!
  return Number(/\d+/.exec(file)![0])
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
}

/** User and system time of a process with all its threads (proc(5), fields 14 and 15). */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}
