import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Resolver } from 'node:dns/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { UpdateProvider } from '../../daemon/certificates/dns/update.ts'
import { startNameServer, type NameServer } from '../stand/acme.ts'
import { startKnot, type UpdatableNameServer } from '../stand/knot.ts'
import { startPlace, type Place } from './place.ts'

async function wildcardsWork(place: Place): Promise<void> {
  await place.server.api('POST', '/environments', { name: 'staging' })
  for (const name of ['one', 'two', 'three']) await place.server.api('POST', '/services', { name })
  await place.server.api('POST', '/services', { name: 'one', environment: 'staging' })
  for (const host of ['one', 'two', 'three', 'one.staging'])
    await place.reaches(`${host}.example.com`, 'issued')
  const serials = new Set<string>()
  for (const host of ['one.example.com', 'two.example.com', 'three.example.com']) {
    const shown = await place.shown(host)
    expect(shown.subjectaltname).toBe('DNS:*.example.com')
    serials.add(shown.serialNumber)
  }
  expect(serials.size).toBe(1)
  expect((await place.shown('one.staging.example.com')).subjectaltname).toBe('DNS:*.staging.example.com')
  // One order per wildcard, however many hosts.
  expect(place.authority.log.split('/order-plz -> calling').length - 1).toBe(2)
}

describe('with a program that creates DNS records', () => {
  let place: Place
  let folder: string

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'deployer-hook-'))
    const names: NameServer = await startNameServer()
    const program = join(folder, 'hook')
    writeFileSync(
      program,
      `#!/bin/sh
set -e
echo "$@" >> ${folder}/calls
case $1 in
  present) curl -sf -d "{\\"host\\":\\"$2.\\",\\"value\\":\\"$3\\"}" ${names.management}/set-txt ;;
  cleanup) curl -sf -d "{\\"host\\":\\"$2.\\"}" ${names.management}/clear-txt ;;
esac
`,
    )
    chmodSync(program, 0o755)
    place = await startPlace({
      names: () => Promise.resolve(names),
      authority: { badNonces: 0 },
      server: { env: { DEPLOYER_ACME_DNS: 'exec', DEPLOYER_ACME_DNS_EXEC: program } },
    })
  })
  afterAll(async () => {
    await place?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  test('each domain and environment has one wildcard certificate', async () => {
    await wildcardsWork(place)
    const calls = readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n')
    expect(calls).toHaveLength(4)
    expect(calls.filter((call) => call.startsWith('present _acme-challenge.'))).toHaveLength(2)
    expect(calls.filter((call) => call.startsWith('cleanup _acme-challenge.'))).toHaveLength(2)
  })
})

describe('with a name server that accepts signed updates', () => {
  let place: Place
  let knot: UpdatableNameServer

  beforeAll(async () => {
    const env: Record<string, string> = { DEPLOYER_ACME_DNS: 'rfc2136' }
    place = await startPlace({
      authority: { badNonces: 0 },
      async names(ip) {
        knot = await startKnot('example.com', ip)
        Object.assign(env, {
          DEPLOYER_ACME_DNS_SERVER: knot.address,
          DEPLOYER_ACME_DNS_TSIG_NAME: knot.key.name,
          DEPLOYER_ACME_DNS_TSIG_SECRET: knot.key.secret,
          DEPLOYER_ACME_DNS_TSIG_ALGORITHM: knot.key.algorithm,
        })
        return knot
      },
      server: { env },
    })
  })
  afterAll(() => place?.stop())

  test('each domain and environment has one wildcard certificate', async () => {
    await wildcardsWork(place)
    const resolver = new Resolver()
    resolver.setServers([knot.address])
    await expect(resolver.resolveTxt('_acme-challenge.example.com')).rejects.toThrow(/ENODATA|ENOTFOUND/)
  })

  test('a wrong key is reported as such', async () => {
    const provider = new UpdateProvider({
      kind: 'rfc2136',
      server: knot.address,
      tsig: {
        name: knot.key.name,
        secret: Buffer.from('wrong').toString('base64'),
        algorithm: 'hmac-sha512',
      },
    })
    await expect(provider.present('_acme-challenge.x.example.com', 'value')).rejects.toThrow(/NOTAUTH/)
  })
})
