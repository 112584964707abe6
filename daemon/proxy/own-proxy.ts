import { availableParallelism } from 'node:os'
import { ProxyClient, type ProxyClientOptions } from './client.ts'
import { keepServerId, stageProgram } from './launch.ts'
import { reachProxy, type Reach } from './reach.ts'

/** More workers would not be faster, because the services of one host are the limit. */
const MAX_DEFAULT_WORKERS = 4
/** How long a service manager may take to restart it, which takes longer at boot. */
const MANAGED_AWAY_MS = 10_000

/** The data plane of a data directory. */
export interface OwnProxyOptions extends Reach, Omit<ProxyClientOptions, 'reach'> {
  version: string
  /** The proxy's program, `proxy.mjs` next to the server's. */
  program: string
  /** Worker processes; by default the smaller of the cores and 4. */
  workers?: number
}

/**
 * Connects to the data directory's data plane, starts one if none answers (unless a service manager does), upgrades one of
 * another version, replaces a supervisor that died, and sends it the table. Throws as `ProxyClient.connect` does.
 */
export async function connectOwnProxy(options: OwnProxyOptions): Promise<ProxyClient> {
  const { dataDirectory, serverId, version, maySpawn = true } = options
  const workers = options.workers ?? Math.min(availableParallelism(), MAX_DEFAULT_WORKERS)
  const program = stageProgram(dataDirectory, options.program, version)
  keepServerId(dataDirectory, serverId)
  return ProxyClient.connect({
    ...options,
    reach: (patienceMs) => reachProxy(options, program, workers, maySpawn ? patienceMs : MANAGED_AWAY_MS),
  })
}
