import { setTimeout as sleep } from 'node:timers/promises'
import { ask } from '#proxy/control/ask.ts'
import { HELLO_MS, type Greeted } from './greeting.ts'
import type { Program } from './launch.ts'

const UPGRADE_MS = 40_000
/** How long the new data plane may take to start, its workers included. */
const START_MS = 30_000
const AGAIN_MS = 100

/** What takes over from a data plane. */
export interface Successor {
  serverId: string
  /** The node that runs the program. */
  node: string
  program: Program
  workers: number
}

/**
 * Replaces a running data plane by one of another version; the old one finishes its open requests. `greet` finds the one that
 * runs. Returns null if that is still the old one, or none, after a while; throws what `greet` throws.
 */
export async function upgradeProxy(
  old: Greeted,
  { serverId, node, program, workers }: Successor,
  greet: () => Promise<Greeted | null>,
): Promise<Greeted | null> {
  await ask(old.channel, 'attach', { server_id: serverId, workers: 0 }, HELLO_MS)
  const successor = { node, program: program.file, version: program.version, workers }
  await ask(old.channel, 'upgrade', successor, UPGRADE_MS)
  old.channel.close()
  const deadline = performance.now() + START_MS
  while (performance.now() < deadline) {
    const found = await greet()
    if (found && found.hello.pid !== old.hello.pid) return found
    found?.channel.close()
    await sleep(AGAIN_MS)
  }
  return null
}
