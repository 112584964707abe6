import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync, readFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { ensurePackages, findProgram } from './packages.ts'
import { freePort } from './registry.ts'
import { run } from './run.ts'

const START_DEADLINE_MS = 120_000
const POLL_MS = 25

/** A name server for tests: every name has the default address unless told otherwise. */
export interface NameServer {
  /** `127.0.0.1:port`. */
  address: string
  /** What names without a record of their own resolve to; null for nothing. */
  setDefault(address: string | null): Promise<void>
  setA(host: string, addresses: string[]): Promise<void>
  clearA(host: string): Promise<void>
  /** Where programs set and clear its records (pebble-challtestsrv's management interface). */
  management: string
  stop(): Promise<void>
}

/** Starts pebble-challtestsrv as a name server only. */
export async function startNameServer(): Promise<NameServer> {
  await ensurePackages()
  const [dns, management] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`]
  const flags = ['-management', management, '-dns01', dns, '-http01', '', '-https01', '', '-tlsalpn01', '']
  const child = start('pebble-challtestsrv', [...flags, '-defaultIPv4', '127.0.0.1', '-defaultIPv6', ''], {})
  const post = async (path: string, body: object) => {
    const { ok } = await fetch(`http://${management}/${path}`, { method: 'POST', body: JSON.stringify(body) })
    if (!ok) throw new Error(`the name server did not take ${path}`)
  }
  await until(() => post('clear-a', { host: 'unused.test.' }), child, 'the name server')
  return {
    address: dns,
    management: `http://${management}`,
    setDefault: (ip) => post('set-default-ipv4', { ip: ip ?? '' }),
    setA: (host, addresses) => post('add-a', { host: `${host}.`, addresses }),
    clearA: (host) => post('clear-a', { host: `${host}.` }),
    stop: () => end(child),
  }
}

export interface AuthorityOptions {
  dns: NameServer
  /** Where it looks for proofs. */
  httpPort: number
  httpsPort: number
  /** How long its certificates last. */
  validitySeconds?: number
  /** Percentage of nonces that it refuses. */
  badNonces?: number
  /** Accounts are only accepted if they are bound with one of these keys, base64url by id. */
  externalAccounts?: Record<string, string>
  /** Names that it refuses to certify. */
  blocked?: string[]
  /** A stopped one whose files were kept, which this one replaces. */
  former?: Authority
}

/** Pebble, an ACME authority for tests. */
export interface Authority {
  directory: string
  /** The certificate file by which the authority itself is verified. */
  caFile: string
  /** The key of that certificate, for a server in front of it. */
  keyFile: string
  ports: [api: number, management: number]
  /** Everything that it has printed. */
  readonly log: string
  /** The root of what it issues, in PEM; a new one after each start. */
  root(): Promise<string>
  stop(options?: { keepFiles?: boolean }): Promise<void>
}

/** Starts Pebble, whose API certificate is created again. */
export async function startAuthority(options: AuthorityOptions): Promise<Authority> {
  await ensurePackages()
  const { former } = options
  const folder = former ? dirname(former.caFile) : mkdtempSync(join(tmpdir(), 'deployer-authority-'))
  const ports = former?.ports ?? [await freePort(), await freePort()]
  const [caFile, key] = [join(folder, 'api.crt'), join(folder, 'api.key')]
  if (!former) await makeCertificate(caFile, key)
  const { validitySeconds = 90 * 24 * 3_600, badNonces = 5, externalAccounts, blocked = [] } = options
  const configuration = join(folder, 'pebble.json')
  writeFileSync(
    configuration,
    JSON.stringify({
      pebble: {
        listenAddress: `127.0.0.1:${ports[0]}`,
        managementListenAddress: `127.0.0.1:${ports[1]}`,
        certificate: caFile,
        privateKey: key,
        httpPort: options.httpPort,
        tlsPort: options.httpsPort,
        ocspResponderURL: '',
        externalAccountBindingRequired: externalAccounts !== undefined,
        externalAccountMACKeys: externalAccounts ?? {},
        certificateValidityPeriod: validitySeconds,
        domainBlocklist: blocked,
      },
    }),
  )
  const child = start('pebble', ['-config', configuration, '-dnsserver', options.dns.address, '-strict'], {
    PEBBLE_VA_NOSLEEP: '1',
    PEBBLE_WFE_NONCEREJECT: String(badNonces),
    PEBBLE_AUTHZREUSE: '0',
  })
  let log = ''
  for (const stream of [child.stdout!, child.stderr!])
    stream.setEncoding('utf8').on('data', (chunk: string) => (log += chunk))
  const agent = new Agent({ ca: readFileSync(caFile) })
  const directory = `https://localhost:${ports[0]}/dir`
  await until(() => get(directory, agent), child, 'Pebble')
  return {
    directory,
    caFile,
    keyFile: key,
    ports,
    get log() {
      return log
    },
    root: () => get(`https://localhost:${ports[1]}/roots/0`, agent),
    async stop({ keepFiles = false } = {}) {
      await end(child)
      if (!keepFiles) rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function makeCertificate(file: string, key: string): Promise<void> {
  await run('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '30'],
    ...['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'],
    ...['-keyout', key, '-out', file],
  ])
}

function start(program: string, flags: string[], env: Record<string, string>): ChildProcess {
  return spawn(findProgram(program)!, flags, { stdio: ['ignore', 'pipe', 'pipe'], env })
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

async function until(ready: () => Promise<unknown>, child: ChildProcess, what: string): Promise<void> {
  child.stdout!.resume()
  child.stderr!.resume()
  const deadline = performance.now() + START_DEADLINE_MS
  for (;;) {
    const isReady = await ready().then(
      () => true,
      () => false,
    )
    if (isReady) return
    if (child.exitCode !== null || performance.now() > deadline) throw new Error(`${what} did not start`)
    await delay(POLL_MS)
  }
}

function get(url: string, agent: Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { agent }, (response) => {
      void text(response).then(resolve, reject)
    })
    asked.on('error', reject)
    asked.end()
  })
}
