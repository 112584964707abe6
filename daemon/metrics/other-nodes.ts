import { ownNodeId } from '#server/nodes/store.ts'
import type { ContainerCounters } from '#server/metrics/sample.ts'
import type { NodeEngine } from '../nodes/engines.ts'
import type { World } from '../world.ts'
import { readContainers } from './containers.ts'

/** How long a round waits for the other nodes: the counts of a slower one are in the next. */
const WAIT_MS = 2_000
/** Older counts are not current. */
const FRESH_SECONDS = 60

interface Counted {
  at: number
  containers: ContainerCounters[]
}

/** Reads the containers of other nodes, each with its own deadline, so that a slow one delays no other and not the round. */
export class OtherNodes {
  readonly #world: World
  readonly #readings = new Map<string, Promise<void>>()
  readonly #counted = new Map<string, Counted>()

  constructor(world: World) {
    this.#world = world
  }

  /** The newest counts; those of a node that is slow now are the last that it gave. */
  async read(signal: AbortSignal): Promise<ContainerCounters[]> {
    const own = ownNodeId()
    const others = this.#world.engines().filter(({ nodeId }) => nodeId !== own)
    if (others.length === 0) return []
    await inTime(Promise.all(others.map((node) => this.#begin(node, signal))))
    const oldest = performance.now() / 1_000 - FRESH_SECONDS
    return others.flatMap(({ nodeId }) => {
      const counted = this.#counted.get(nodeId)
      return counted && counted.at >= oldest ? counted.containers : []
    })
  }

  #begin(node: NodeEngine, signal: AbortSignal): Promise<void> {
    const { nodeId } = node
    let reading = this.#readings.get(nodeId)
    if (reading) return reading
    reading = readContainers(node, signal)
      .then((containers) => {
        if (containers) this.#counted.set(nodeId, { at: performance.now() / 1_000, containers })
      })
      .finally(() => this.#readings.delete(nodeId))
    this.#readings.set(nodeId, reading)
    return reading
  }
}

async function inTime(work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  await Promise.race([work, new Promise((resolve) => (timer = setTimeout(resolve, WAIT_MS)))])
  clearTimeout(timer)
}
