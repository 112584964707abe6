import { ask } from '#proxy/control/ask.ts'
import { PROTOCOL } from '#proxy/protocol.ts'
import { HELLO_MS, endOlder, greet, type Greeted } from './greeting.ts'
import { startSupervisor, type Program } from './launch.ts'
import { upgradeProxy } from './upgrade.ts'

/** How long a supervisor may take to start, its workers included. */
const START_MS = 30_000

/** Which data plane to reach, and how to start it if none is running. */
export interface Reach {
  dataDirectory: string
  serverId: string
  /** The node that runs it. */
  node: string
  /** Whether the caller may start it as a process (the default); otherwise a service manager does. */
  maySpawn?: boolean
  log(message: string, fields?: Record<string, unknown>): void
}

/**
 * Finds the data directory's data plane, waiting `patienceMs` for one that may be unreachable for a moment. Starts it if
 * there is none, upgrades one of another version, and attaches to it. Throws `Error` if it belongs to another server or
 * does not come up.
 */
export async function reachProxy(
  reach: Reach,
  program: Program,
  workers: number,
  patienceMs: number,
): Promise<Greeted> {
  const { dataDirectory, serverId } = reach
  let found = await greet(dataDirectory, patienceMs)
  if (!found) {
    reach.log('starting the proxy', { version: program.version })
    found = await start(reach, program, workers)
  }
  try {
    if (found.hello.server_id !== serverId)
      throw new Error(`the proxy in ${dataDirectory} (process ${found.hello.pid}) belongs to another server`)
    const hadOlder = await endOlder(dataDirectory, found)
    // An upgrade also takes over the workers that the older one left.
    if (hadOlder || found.hello.version !== program.version || found.hello.protocol !== PROTOCOL) {
      reach.log('upgrading the proxy', { from: found.hello.version, to: program.version })
      found = await upgrade(reach, program, workers, found)
    }
    await ask(found.channel, 'attach', { server_id: serverId, workers }, HELLO_MS)
    return found
  } catch (error) {
    found.channel.close()
    throw error
  }
}

async function start(reach: Reach, program: Program, workers: number): Promise<Greeted> {
  const { dataDirectory, serverId, node, maySpawn = true } = reach
  const settings = {
    data_directory: dataDirectory,
    server_id: serverId,
    version: program.version,
    workers,
    inherited: [],
    successor: false,
  }
  const { failed } = await startSupervisor(node, program, settings, maySpawn)
  failed.catch(() => {})
  const found = await Promise.race([greet(dataDirectory, START_MS), failed])
  if (!found) throw new Error(`the proxy did not start within ${START_MS / 1000} s; see proxy/proxy.log`)
  return found
}

async function upgrade(reach: Reach, program: Program, workers: number, old: Greeted): Promise<Greeted> {
  const { dataDirectory, serverId, node } = reach
  const successor = { serverId, node, program, workers }
  const found = await upgradeProxy(old, successor, () => greet(dataDirectory, START_MS))
  if (!found) throw new Error('the upgraded proxy does not answer; see proxy/proxy.log')
  return found
}
