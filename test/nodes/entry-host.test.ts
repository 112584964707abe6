import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { request as requestOverTls } from 'node:https'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createEngine, type Engine } from '#daemon/engine/index.ts'
import { ensureEntry, entryName, removeEntry } from '#daemon/entries/container.ts'
import { EntryFiles } from '#daemon/entries/files.ts'
import { reachEntry } from '#daemon/entries/reach.ts'
import type { Greeted } from '#daemon/proxy/greeting.ts'
import { ask } from '#proxy/control/ask.ts'
import type { RouteTable, Target } from '#proxy/protocol.ts'
import { sendTable } from '#proxy/table/message.ts'
import { SentTable } from '#proxy/table/sent-table.ts'
import { useDatabase } from '#server/context.ts'
import { ledgerOf } from '#server/ledger.ts'
import { HERE, type Machine } from '../stand/machine.ts'
import { builtServer } from '../support/build.ts'
import { makeSelfSigned } from '../support/certificate.ts'
import { openContext } from '../support/context.ts'
import { waitFor } from '../support/wait.ts'
import { Load } from './load.ts'
import { obstacle } from './obstacle.ts'
import { PAGE_COMMAND, startPlace, type Place } from './place.ts'

const SLOW = { tags: ['slow'] }
const PORTS = { http: 80, https: 443 }
const WORKERS = 2
/** A service's own port. */
const SERVICE_PORT = 10_000
const SERVICES = {
  'on-machine-1': { placement: { nodes: ['machine-1'] } },
  'on-machine-2': { placement: { nodes: ['machine-2'] } },
  other: { placement: { nodes: ['machine-2'] }, environment: 'staging' },
}
const LIMIT_MS = 60_000
/** Whoever is let through has an answer by then. */
const ANSWER_SECONDS = '2'

/** The table is made by hand, so that this is about the entry alone. */
describe.skipIf(obstacle !== null)('an entry on another machine', () => {
  let place: Place
  let folder: string
  let serverId: string
  let second: Machine
  let engine: Engine
  let files: EntryFiles
  let image: string
  let table: RouteTable
  let certificate: string
  let reached: Greeted | undefined
  /** The ids of services, by their names. */
  const services = new Map<string, string>()
  const closing: (() => unknown)[] = []

  beforeAll(async () => {
    place = await startPlace()
    closing.push(() => place.stop())
    second = place.machines[1]
    await place.join(second)
    await place.server.api('POST', '/environments', { name: 'staging' })
    for (const [service, fields] of Object.entries(SERVICES))
      services.set(service, await place.run(service, PAGE_COMMAND, fields))
    folder = mkdtempSync(join(tmpdir(), 'deployer-entry-'))
    closing.push(() => rmSync(folder, { recursive: true }))
    const { context, close } = await openContext()
    closing.push(close)
    serverId = context.serverId
    const node = (await place.nodes()).find(({ name }) => name === second.name)!
    engine = createEngine({
      dockerHost: `unix://${join(place.server.dataDirectory, 'nodes', node.id, 'engine.sock')}`,
      serverId,
      ledger: ledgerOf(useDatabase, () => context.vault),
    })
    files = new EntryFiles(() => engine, folder)
    const images = await second.docker('image', 'ls', '--no-trunc', '--format', '{{.Repository}} {{.ID}}')
    image = /^deployer-\S+\/node (\S+)/m.exec(images)![1]!
    table = await tableByHand()
  })
  afterAll(async () => {
    reached?.channel.close()
    for (const close of closing.toReversed()) await close()
  })

  /** The networks of a container, with its address in each. */
  async function networksOf(machine: Machine, container: string): Promise<[name: string, address: string][]> {
    const format = '{{json .NetworkSettings.Networks}}'
    const found = JSON.parse(await machine.docker('inspect', '--format', format, container)) as Networks
    return Object.entries(found).map(([name, { IPAddress }]) => [name, IPAddress])
  }

  /** The container of a service, and its overlay with its address there. */
  async function placeOf(service: string) {
    const machine = service === 'on-machine-1' ? place.machines[0] : second
    const container = (await place.containers(machine, services.get(service)!))[0]!.name
    const joined = await networksOf(machine, container)
    const [overlay, address] = joined.find(([name]) => name.endsWith('-nodes'))!
    return { container, overlay, address }
  }

  async function tableByHand(): Promise<RouteTable> {
    const site = join(folder, 'sites', 'dep-1')
    mkdirSync(join(site, 'files'), { recursive: true })
    writeFileSync(join(site, 'files', 'index.html'), 'a static site')
    mkdirSync(join(folder, 'certificates'))
    const keyed = await makeSelfSigned(join(folder, 'certificates'), 'tls.test')
    certificate = readFileSync(keyed.certificate, 'utf8')
    const targets: Record<string, Target> = {
      site: { id: 'site', state: 'serving', upstreams: [], site: { folder: site, earlier: [] } },
    }
    for (const id of services.keys()) {
      const upstreams = [{ instance: id, host: (await placeOf(id)).address, port: SERVICE_PORT }]
      targets[id] = { id, state: 'serving', upstreams, edge: { access_log: true } }
    }
    return {
      version: 1,
      listeners: [
        { address: `0.0.0.0:${PORTS.http}`, protocol: 'http' },
        { address: `0.0.0.0:${PORTS.https}`, protocol: 'https' },
      ],
      hosts: {
        ...{ 'one.test': 'on-machine-1', 'two.test': 'on-machine-2', 'other.test': 'other' },
        ...{ 'tls.test': 'on-machine-1', 'site.test': 'site' },
      },
      targets,
      certificates: { 'tls.test': keyed },
      ...{ zones: {}, acme_challenges: {}, tls_challenges: {}, verification_key: '', hsts_seconds: 0 },
      ...{ h2c: false, trusted_proxies: [], upstream_timeout_ms: 10_000, max_connections_per_ip: 100 },
    }
  }

  /** The networks across the machines, in the order of their names. */
  async function overlays(): Promise<{ id: string; name: string }[]> {
    const format = '{{.ID}} {{.Name}}'
    const lines = await place.machines[0].docker('network', 'ls', '--no-trunc', '--format', format)
    const found = [...lines.matchAll(/^(\S+) (deployer-env-\S+-nodes)$/gm)]
    return found.map(([, id, name]) => ({ id: id!, name: name! }))
  }

  const ensure = (joined: { id: string; name: string }[]) =>
    ensureEntry(engine, { image, ports: Object.values(PORTS), overlays: joined })

  /** Has a version of the data plane run there. */
  async function reach(version: string): Promise<void> {
    const program = { file: join(dirname(await builtServer()), 'proxy.mjs'), version }
    reached?.channel.close()
    reached = await reachEntry({ engine: () => engine, files, serverId, log: () => {} }, program, WORKERS)
  }

  async function apply(): Promise<void> {
    const delivered = await files.deliver(table, AbortSignal.timeout(LIMIT_MS))
    await sendTable(reached!.channel, new SentTable().become(delivered), { window: 16, timeoutMs: LIMIT_MS })
  }

  /** What a host says at the second machine's address. */
  function pageOf(host: string, scheme: keyof typeof PORTS = 'http'): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const to = { host: second.address, port: PORTS[scheme], agent: false, headers: { host } }
    const asked =
      scheme === 'http' ? request(to) : requestOverTls({ ...to, servername: host, ca: certificate })
    asked.on('response', (answer) => {
      if (answer.statusCode === 200) text(answer).then(resolve, reject)
      else reject(new Error(`${host} answers ${answer.statusCode}`))
    })
    asked.on('error', reject).end()
    return promise
  }

  test('serves what runs on each machine, static sites and HTTPS, and knows its clients', SLOW, async () => {
    await ensure(await overlays())
    await reach('first')
    await apply()
    const pages = new Set<string>()
    for (const host of ['one.test', 'two.test', 'other.test', 'site.test']) pages.add(await pageOf(host))
    expect(pages.size).toBe(4)
    expect(pages).toContain('a static site')
    expect(pages).toContain(await pageOf('tls.test', 'https'))
    const { lines } = await ask(reached!.channel, 'access_lines', {}, LIMIT_MS)
    expect(new Set(lines.map((line) => line[8]))).toEqual(new Set([HERE]))
  })

  test(
    'goes on through a change of its networks, the death of its supervisor and an upgrade, with no request failed',
    SLOW,
    async () => {
      const load = new Load({ host: second.address, httpPort: PORTS.http }, 'two.test')
      await waitFor(() => load.answers.answered >= 100, 'answers')
      const { overlay } = await placeOf('on-machine-2')
      await ensure((await overlays()).filter(({ name }) => name === overlay))
      expect(await networksOf(second, entryName())).toHaveLength(2)
      await ensure(await overlays())
      const kill = `process.kill(${reached!.hello.pid}, 'SIGKILL')`
      await second.docker('exec', entryName(), 'node', '-e', kill)
      await reach('first')
      await reach('second')
      await apply()
      const { failures, answered } = await load.stop()
      expect(failures).toEqual([])
      expect(answered).toBeGreaterThan(200)
      expect(await pageOf('other.test')).toMatch(/\S/)
    },
  )

  test('leads no packet from one private network into another', SLOW, async () => {
    const [from, to] = [await placeOf('on-machine-2'), await placeOf('other')]
    const joined = new Map(await networksOf(second, entryName()))
    const into = async ({ container }: { container: string }, ...command: string[]) => {
      const pid = await second.docker('inspect', '--format', '{{.State.Pid}}', container)
      return second.run('nsenter', '--net', '--target', pid.trim(), ...command)
    }
    const fetched = (address: string) =>
      into(from, 'curl', '-sS', '-m', ANSWER_SECONDS, '-o', '/dev/null', `http://${address}`)
    // Each knows the way to the other, through the entry.
    await into(from, 'ip', 'route', 'replace', to.address, 'via', joined.get(from.overlay)!)
    await into(to, 'ip', 'route', 'replace', from.address, 'via', joined.get(to.overlay)!)
    // As a proxy it is there for everybody.
    await fetched(joined.get(from.overlay)!)
    await expect(fetched(`${to.address}:${SERVICE_PORT}`)).rejects.toThrow(/timed out/)
  })

  test('ends with all that it had', SLOW, async () => {
    await removeEntry(engine)
    expect(await second.docker('ps', '-aq', '--filter', `name=${entryName()}`)).toBe('')
    expect(await second.docker('volume', 'ls', '-q', '--filter', `name=${entryName()}`)).toBe('')
    await expect(pageOf('one.test')).rejects.toThrow()
  })
})

type Networks = Record<string, { IPAddress: string }>
