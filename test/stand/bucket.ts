import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { AwsV4Signer } from 'aws4fetch'
import { ensurePackages, findProgram } from './packages.ts'
import { freePort } from './registry.ts'
import { run } from './run.ts'

const START_DEADLINE_MS = 120_000
const POLL_MS = 50

/** A bucket of a real S3-compatible store: OpenStack Swift with its S3 API, on the disk of this machine. */
export interface TestBucket {
  url: string
  key: string
  secret: string
  /** The flags of a server that copies its backups there. */
  flags: string[]
  /** The names of its objects. */
  objects(): Promise<string[]>
  /** The names of uploads that were begun and not finished. */
  uploads(): Promise<string[]>
  /** Puts an object into it, replacing what is there. */
  write(name: string, content: string): Promise<void>
  remove(name: string): Promise<void>
  /** Nothing listens at its address any more. */
  goAway(): Promise<void>
  comeBack(): Promise<void>
  /** Pauses it in the middle of its work; `thaw` continues it. */
  freeze(): void
  thaw(): void
  stop(): Promise<void>
}

const KEY = 'test:tester'
const SECRET = 'a-secret-of-the-test-stand'
const SERVERS = ['account', 'container', 'object'] as const

/** Starts a store with one bucket. */
export async function startBucket(): Promise<TestBucket> {
  await ensurePackages()
  const folder = mkdtempSync(join(tmpdir(), 'deployer-bucket-'))
  const ports = [await freePort(), await freePort(), await freePort()]
  const port = await freePort()
  const endpoint = `http://127.0.0.1:${port}`
  writeConfiguration(folder, ports, port)
  // The program's own tool takes half a second for each of nine steps.
  await run('/usr/bin/python3', ['-c', RINGS, folder, ...ports.map(String)])
  const start = (name: string) =>
    spawn(findProgram(`swift-${name}-server`)!, [join(folder, `${name}.conf`)], { stdio: 'ignore' })
  const servers: ChildProcess[] = SERVERS.map(start)
  let proxy: ChildProcess
  const call = async (method: string, path: string, body?: string): Promise<string> => {
    const asked = { method, url: `${endpoint}/backups${path}`, ...(body !== undefined && { body }) }
    const credentials = { accessKeyId: KEY, secretAccessKey: SECRET, service: 's3' }
    const { url, headers } = await new AwsV4Signer({ ...asked, ...credentials }).sign()
    const answer = await fetch(url, { method, headers, ...(body !== undefined && { body }) })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return text
  }
  const comeBack = async (): Promise<void> => {
    proxy = start('proxy')
    const deadline = performance.now() + START_DEADLINE_MS
    for (;;) {
      const fault = await call('PUT', '').then(
        () => null,
        (error: Error) => error,
      )
      if (fault === null || fault.message.includes('BucketAlreadyOwnedByYou')) return
      if (performance.now() > deadline || proxy.exitCode !== null)
        throw new Error('the bucket did not start', { cause: fault })
      await delay(POLL_MS)
    }
  }
  const names = (xml: string) => [...xml.matchAll(/<Key>(.*?)<\/Key>/g)].map(([, name]) => name!)
  await comeBack()
  const url = `${endpoint}/backups/of-tests`
  return {
    url,
    key: KEY,
    secret: SECRET,
    flags: ['--backup-s3-url', url, '--backup-s3-key', KEY, '--backup-s3-secret', SECRET],
    objects: async () => names(await call('GET', '?list-type=2')),
    uploads: async () => names(await call('GET', '?uploads')),
    write: async (name, content) => void (await call('PUT', `/${name}`, content)),
    remove: async (name) => void (await call('DELETE', `/${name}`)),
    goAway: () => end(proxy),
    comeBack,
    freeze: () => void servers[2]!.kill('SIGSTOP'),
    thaw: () => void servers[2]!.kill('SIGCONT'),
    async stop() {
      await Promise.all([proxy, ...servers].map(end))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** One device, one copy: where each of the servers finds what (Swift's documentation, "The Rings"). */
const RINGS = `
import sys
from swift.common.ring import RingBuilder
for kind, port in zip(("account", "container", "object"), sys.argv[2:]):
    builder = RingBuilder(0, 1, 0)
    builder.add_dev(dict(region=1, zone=1, ip="127.0.0.1", port=int(port), device="disk", weight=1,
        replication_ip="127.0.0.1", replication_port=int(port)))
    builder.rebalance()
    builder.get_ring().save(sys.argv[1] + "/" + kind + ".ring.gz")
`

function writeConfiguration(folder: string, ports: number[], proxyPort: number): void {
  mkdirSync(join(folder, 'devices', 'disk'), { recursive: true })
  const place = (port: number) =>
    `[DEFAULT]\nbind_ip = 127.0.0.1\nbind_port = ${port}\nworkers = 0\nuser = root\nswift_dir = ${folder}\nlog_address = /nonexistent\n`
  const filter = (name: string, settings = '') => `[filter:${name}]\nuse = egg:swift#${name}\n${settings}`
  const write = (name: string, content: string) => writeFileSync(join(folder, name), content)
  write(
    'swift.conf',
    '[swift-hash]\nswift_hash_path_prefix = test\nswift_hash_path_suffix = test\n[storage-policy:0]\nname = one\ndefault = yes\n',
  )
  for (const [at, name] of SERVERS.entries())
    write(
      `${name}.conf`,
      `${place(ports[at]!)}devices = ${folder}/devices\nmount_check = false\ndisable_fallocate = true\n[pipeline:main]\npipeline = ${name}-server\n[app:${name}-server]\nuse = egg:swift#${name}\n`,
    )
  write(
    'proxy.conf',
    [
      place(proxyPort),
      '[pipeline:main]\npipeline = catch_errors cache listing_formats bulk s3api tempauth slo dlo proxy-server\n',
      '[app:proxy-server]\nuse = egg:swift#proxy\naccount_autocreate = true\nnode_timeout = 60\n',
      ...['catch_errors', 'listing_formats', 'bulk', 'slo', 'dlo'].map((name) => filter(name)),
      filter('s3api', 'location = us-east-1\n'),
      filter('tempauth', `user_test_tester = ${SECRET} .admin\n`),
      // It is asked for, and may be away.
      '[filter:cache]\nuse = egg:swift#memcache\nmemcache_servers = 127.0.0.1:1\n',
    ].join(''),
  )
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}
