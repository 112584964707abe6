import { ask } from '#proxy/control/ask.ts'
import { Channel } from '#proxy/control/channel.ts'
import { PROTOCOL } from '#proxy/protocol.ts'
import type { Engine } from '../engine/index.ts'
import { greetOver, HELLO_MS, type Greeted } from '../proxy/greeting.ts'
import type { Program } from '../proxy/launch.ts'
import { upgradeProxy } from '../proxy/upgrade.ts'
import { greetingOf } from './answers.ts'
import { dialEntry } from './dialing.ts'
import type { EntryFiles } from './files.ts'

/** How long a data plane may take to start, its workers included. */
const START_MS = 30_000
/** How long the program that dials may take to start on a busy machine. */
const DIAL_MS = 10_000
const BRING_MS = 60_000
/** The counts of 20,000 targets are about 6 MiB of JSON. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024
/** The node that runs the data plane there. */
const SAME_NODE = '/proc/self/exe'

/** Which entry to reach. */
export interface EntryReach {
  engine: () => Engine
  files: EntryFiles
  serverId: string
  log(message: string, fields?: Record<string, unknown>): void
}

/**
 * Brings the data plane's program to an entry, finds the data plane that runs there, waiting for one that starts, replaces one of
 * another version, and attaches to it. Throws `Error` if it belongs to another server or does not come up, `runtime_error` if
 * the entry does not run or its node does not answer.
 */
export async function reachEntry(entry: EntryReach, program: Program, workers: number): Promise<Greeted> {
  const { serverId, files } = entry
  const signal = AbortSignal.timeout(BRING_MS)
  // What it has may have been lost with the connection.
  files.forget()
  const there = await files.bringProgram(program, { serverId, workers }, signal)
  let found = await greetEntry(entry)
  try {
    if (found.hello.server_id !== serverId) throw new Error('the entry belongs to another server')
    if (found.hello.version !== there.version || found.hello.protocol !== PROTOCOL) {
      entry.log('upgrading the entry', { from: found.hello.version, to: there.version })
      found = await upgrade(entry, there, workers, found)
    }
    await ask(found.channel, 'attach', { server_id: serverId, workers }, HELLO_MS)
    return found
  } catch (error) {
    found.channel.close()
    throw error
  }
}

async function greetEntry({ engine }: EntryReach): Promise<Greeted> {
  const connection = await dialEntry(engine(), START_MS)
  const channel = new Channel(connection, () => null, MAX_ANSWER_BYTES)
  const { hello } = await greetOver(channel, START_MS + DIAL_MS)
  try {
    return { channel, hello: greetingOf(hello) }
  } catch (error) {
    channel.destroy()
    throw error
  }
}

async function upgrade(entry: EntryReach, program: Program, workers: number, old: Greeted): Promise<Greeted> {
  const successor = { serverId: entry.serverId, node: SAME_NODE, program, workers }
  const found = await upgradeProxy(old, successor, () => greetEntry(entry))
  if (!found) throw new Error('the upgraded data plane of the entry does not answer')
  return found
}
