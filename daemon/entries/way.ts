import { availableParallelism } from 'node:os'
import { useContext } from '#server/context.ts'
import { logger } from '#server/log.ts'
import { getNode } from '#server/nodes/store.ts'
import { overlaysOf } from '../environments/overlays.ts'
import type { Engine } from '../engine/index.ts'
import type { Program } from '../proxy/launch.ts'
import { ensureEntry } from './container.ts'
import { EntryFiles } from './files.ts'
import { reachEntry } from './reach.ts'
import type { EntryWay } from './terms.ts'

const log = logger('entries')

/** More workers would not be faster, because the services are the limit. */
const MAX_WORKERS = 4

/** What leads to entries. */
export interface Ground {
  /** The own engine, which knows the networks. */
  engine: Engine
  /** Throws `runtime_error` while the node does not answer. */
  engineOf(nodeId: string): Engine
  /** The id of the agents' image. */
  agentImage(): Promise<string>
  /** The data plane's program. */
  program(): Program
}

/** The way to the entry of a node. */
export function wayTo(nodeId: string, ground: Ground): EntryWay {
  const { serverId, options } = useContext()
  const engineThere = () => ground.engineOf(nodeId)
  const files = new EntryFiles(engineThere, options.dataDirectory)
  const reached = {
    ...{ engine: engineThere, files, serverId },
    log: (message: string, fields?: Record<string, unknown>) => log.info(message, fields),
  }
  return {
    async ensure(ports) {
      const [image, overlays] = await Promise.all([ground.agentImage(), overlaysOf(ground.engine)])
      await ensureEntry(engineThere(), { image, ports, overlays })
    },
    reach: () => reachEntry(reached, ground.program(), workersOf(nodeId)),
    deliver: (table, signal) => files.deliver(table, signal),
    sweep: (signal) => files.sweep(signal),
  }
}

/** As many workers as the own data plane would have on that machine. */
function workersOf(nodeId: string): number {
  const cpus = Math.floor(getNode(nodeId)?.cpus ?? availableParallelism())
  return useContext().options.proxyWorkers ?? Math.min(Math.max(cpus, 1), MAX_WORKERS)
}
