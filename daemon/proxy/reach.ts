import { setTimeout as sleep } from 'node:timers/promises'
import { ask } from '#proxy/control/ask.ts'
import { PROTOCOL } from '#proxy/protocol.ts'
import { HELLO_MS, START_POLL_MS, endOlder, greet, type Greeted } from './greeting.ts'
import { startSupervisor, type Program } from './launch.ts'

/** Time for a supervisor to start, its workers included. */
const START_MS = 30_000
const UPGRADE_MS = 40_000

/** Whose data plane is to be reached, and what runs it where none does. */
export interface Reach {
  dataDirectory: string
  serverId: string
  /** The node that runs it. */
  node: string
  /** Whether it may be started as a process of the caller's (the default); else a service manager brings it up. */
  maySpawn?: boolean
  log(message: string, fields?: Record<string, unknown>): void
}

/**
 * Finds the data directory's data plane, for `patienceMs` where one may be away for a moment; starts it where none is,
 * upgrades one of another version, and attaches to it. Throws `Error` when it belongs to another server or does not
 * come up.
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
    // Who takes over takes the workers that the older one left as well.
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

/** Has the running data plane replaced by this version's; requests under way are finished by the old one. */
async function upgrade(reach: Reach, program: Program, workers: number, old: Greeted): Promise<Greeted> {
  const { dataDirectory, serverId, node } = reach
  await ask(old.channel, 'attach', { server_id: serverId, workers: 0 }, HELLO_MS)
  const successor = { node, program: program.file, version: program.version, workers }
  await ask(old.channel, 'upgrade', successor, UPGRADE_MS)
  old.channel.close()
  const deadline = performance.now() + START_MS
  while (performance.now() < deadline) {
    const found = await greet(dataDirectory, START_MS)
    if (found && found.hello.pid !== old.hello.pid) return found
    found?.channel.close()
    await sleep(START_POLL_MS)
  }
  throw new Error('the upgraded proxy does not answer; see proxy/proxy.log')
}
