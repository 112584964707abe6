import { randomHex } from '#server/ids.ts'
import type { Engine } from '../engine/index.ts'

/** Where the programs that send frames meet. */
export interface Meeting {
  /** The network of all nodes in which frames are sent. */
  network: string
  /** The id of the agent's image, which each node has. */
  image: string
}

interface End {
  engine: Engine
}

/** A program that sends frames back, and in whose container another one sends them. */
interface Echo {
  name: string
  address: string
}

const KIND = { 'deployer.kind': 'node-probe' }
const MEMORY_BYTES = 128 * 1024 ** 2
const SENT_WITHIN_MS = 60_000
const PROGRAM = ['node', '/node-agent.mjs']

/**
 * Sends frames between nodes through the network that they share. Each node has one container for that, and all are started at
 * once: to join that network takes an engine seconds.
 */
export class Frames<T extends End> {
  readonly #echoes: ReadonlyMap<T, Promise<Echo>>

  constructor(ends: readonly T[], meeting: Meeting) {
    this.#echoes = new Map(ends.map((end) => [end, begin(end.engine, meeting)]))
    // Whoever sends something hears why it did not begin.
    for (const echo of this.#echoes.values()) echo.catch(() => {})
  }

  /** Sends frames to an end, which sends them back; returns the exit code of the program that does. Throws `runtime_error`. */
  async send(from: T, to: T): Promise<number> {
    const [{ name }, { address }] = await Promise.all([this.#echoes.get(from)!, this.#echoes.get(to)!])
    const signal = AbortSignal.timeout(SENT_WITHIN_MS)
    const command = [...PROGRAM, 'ask', address]
    const program = await from.engine.programs.start(name, { command, env: {} }, signal)
    for await (const _ of program.streams.output());
    return program.end()
  }

  /** Removes the containers. */
  async close(): Promise<void> {
    await Promise.allSettled(
      // The next look removes what is left.
      [...this.#echoes].map(async ([{ engine }, echo]) => engine.containers.remove((await echo).name)),
    )
  }
}

/** Removes what an earlier look of a killed server left, and starts the program that sends back. */
async function begin({ containers }: Engine, { image, network }: Meeting): Promise<Echo> {
  for (const { name } of await containers.list(KIND)) await containers.remove(name)
  const name = `deployer-probe-${randomHex(6)}`
  await containers.create({
    ...{ name, image, labels: KIND, env: {}, network },
    entrypoint: PROGRAM,
    command: ['echo'],
    memoryBytes: MEMORY_BYTES,
    cpus: 1,
  })
  await containers.start(name)
  return { name, address: (await containers.inspect(name))?.address ?? '' }
}
