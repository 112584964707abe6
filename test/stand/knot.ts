import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Resolver } from 'node:dns/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { NameServer } from './acme.ts'
import { findProgram } from './packages.ts'
import { freePort } from './registry.ts'

const START_DEADLINE_MS = 120_000
const POLL_MS = 50

/** A real name server that accepts updates signed with a key. */
export interface UpdatableNameServer extends NameServer {
  key: { name: string; secret: string; algorithm: string }
}

/** Starts Knot DNS with one zone, in which every name has the address `ip`. */
export async function startKnot(zone: string, ip: string): Promise<UpdatableNameServer> {
  const folder = mkdtempSync(join(tmpdir(), 'deployer-knot-'))
  const port = await freePort()
  const key = { name: 'deployer', secret: randomBytes(32).toString('base64'), algorithm: 'hmac-sha512' }
  writeFileSync(
    join(folder, 'zone'),
    `$ORIGIN ${zone}.\n$TTL 1\n@ SOA ns hostmaster 1 3600 600 86400 1\n@ NS ns\nns A 127.0.0.1\n@ A ${ip}\n* A ${ip}\n`,
  )
  writeFileSync(
    join(folder, 'knot.conf'),
    [
      `server:\n  listen: 127.0.0.1@${port}\n  rundir: ${folder}`,
      `database:\n  storage: ${folder}`,
      `key:\n  - id: ${key.name}\n    algorithm: ${key.algorithm}\n    secret: ${key.secret}`,
      `acl:\n  - id: updates\n    key: ${key.name}\n    action: update`,
      `zone:\n  - domain: ${zone}\n    storage: ${folder}\n    file: zone\n    acl: updates\n`,
    ].join('\n'),
  )
  const child = spawn(findProgram('knotd')!, ['-c', join(folder, 'knot.conf')], { stdio: 'ignore' })
  const address = `127.0.0.1:${port}`
  const resolver = new Resolver({ timeout: 500, tries: 1 })
  resolver.setServers([address])
  const deadline = performance.now() + START_DEADLINE_MS
  while ((await resolver.resolve4(`x.${zone}`).catch(() => [])).length === 0) {
    if (performance.now() > deadline || child.exitCode !== null) throw new Error('Knot did not start')
    await delay(POLL_MS)
  }
  const fixed = () => Promise.resolve()
  return {
    address,
    management: '',
    key,
    setDefault: fixed,
    setA: fixed,
    clearA: fixed,
    async stop() {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
