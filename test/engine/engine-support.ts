import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import type { Readable } from 'node:stream'
import { pack } from 'tar-stream'
import {
  createEngine,
  type ContainerSpec,
  type Engine,
  type Ledger,
  type OutputLine,
} from '#daemon/engine/index.ts'
import { standEngine } from '../support/stand-setup.ts'
import { waitFor } from '../support/wait.ts'

const MIB = 1024 * 1024

/** A server of its own on the stand's engine, with a network, and a function that removes all that was created under it. */
export interface Bench {
  engine: Engine
  ledger: Ledger
  serverId: string
  network: string
  /** The network's subnet without its last number: `10.250.7.`. */
  prefix: string
  /** The specification of a small container; `command` runs in busybox's shell. */
  spec(command: string, more?: Partial<ContainerSpec>): ContainerSpec
  /** Creates and starts a container and returns its name. */
  run(command: string, more?: Partial<ContainerSpec>): Promise<string>
  /** Runs a container to its end and returns its whole output. */
  output(command: string, more?: Partial<ContainerSpec>): Promise<OutputLine[]>
  close(): Promise<void>
}

/** Creates a bench for a test file. */
export async function openBench(): Promise<Bench> {
  const serverId = `test-${randomBytes(5).toString('hex')}`
  const ledger = memoryLedger()
  const engine = createEngine({ dockerHost: standEngine(), serverId, ledger })
  await engine.images.pull('busybox:1', { signal: never(), onLine: () => {} })
  const network = `${serverId}-net`
  const prefix = await makeNetwork(engine, network)
  const spec = (command: string, more: Partial<ContainerSpec> = {}): ContainerSpec => ({
    name: `${serverId}-${randomBytes(3).toString('hex')}`,
    image: 'busybox:1',
    labels: {},
    env: {},
    command: ['sh', '-c', command],
    network,
    memoryBytes: 64 * MIB,
    cpus: 1,
    ...more,
  })
  const run = async (command: string, more?: Partial<ContainerSpec>): Promise<string> => {
    const whole = spec(command, more)
    await engine.containers.create(whole)
    await engine.containers.start(whole.name)
    return whole.name
  }
  return {
    engine,
    ledger,
    serverId,
    network,
    prefix,
    spec,
    run,
    output: async (command, more) => {
      const name = await run(command, more)
      await engine.containers.wait(name, never())
      const lines = await all(engine.output.logs(name, { signal: never() }))
      await engine.containers.remove(name)
      return lines
    },
    close: async () => {
      for (const { name } of ledger.list('container')) await engine.containers.remove(name)
      for (const name of engine.networks.names()) await engine.networks.remove(name)
      for (const name of engine.images.names()) await engine.images.remove(name)
    },
  }
}

/** What a bench created, kept as long as its test runs. */
export function memoryLedger(): Ledger {
  const things = new Map<string, { kind: string; name: string; engine_id: string | null }>()
  return {
    record: (kind, name, engineId = null) =>
      void things.set(`${kind} ${name}`, { kind, name, engine_id: engineId }),
    find: (kind, name) => things.get(`${kind} ${name}`),
    list: (kind) => [...things.values()].filter((thing) => thing.kind === kind),
    waiting: (kind) =>
      [...things.values()]
        .filter((thing) => thing.kind === kind && thing.engine_id === null)
        .map(({ name }) => name),
    countWaiting: (kind) =>
      [...things.values()].filter((thing) => thing.kind === kind && thing.engine_id === null).length,
    forget: (kind, name) => void things.delete(`${kind} ${name}`),
    atOnce: (work) => work(),
    seal: (text) => Buffer.from(text).toString('base64'),
    open: (sealed) => Buffer.from(sealed, 'base64').toString(),
  }
}

/** Test files run in parallel: each tries subnets until one is free. */
async function makeNetwork(engine: Engine, name: string): Promise<string> {
  for (let tries = 0; ; tries++) {
    const prefix = `10.250.${randomBytes(1)[0]}.`
    try {
      await engine.networks.create({ name, subnet: `${prefix}0/24`, gateway: `${prefix}1`, labels: {} })
      return prefix
    } catch (error) {
      if (tries > 20) throw error
    }
  }
}

/** A signal that does not abort. */
export function never(): AbortSignal {
  return new AbortController().signal
}

/** Everything that an iteration yields. */
export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

/** A tar stream of files. */
export function tarOf(files: Record<string, string>): Readable {
  const tar = pack()
  for (const [name, content] of Object.entries(files)) tar.entry({ name }, content)
  tar.finalize()
  return tar as unknown as Readable
}

/** The records of the whole engine's build cache, whoever created them, whose description contains this text. */
export async function cacheIds(wanted = ''): Promise<string[]> {
  const { records } = await waitFor(async () => {
    const answer = JSON.parse(await askEngine('/system/df')) as { BuildCache?: CacheRecord[] | null }
    // The engine checks its disk for one client at a time.
    return 'BuildCache' in answer && { records: answer.BuildCache ?? [] }
  }, 'the engine to look at its disk')
  return records.filter(({ Description }) => Description.includes(wanted)).map(({ ID }) => ID)
}

interface CacheRecord {
  ID: string
  Description: string
}

function askEngine(path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const ask = request({ socketPath: standEngine().slice('unix://'.length), path }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      response.on('end', () => resolve(text))
    })
    ask.on('error', reject).end()
  })
}
