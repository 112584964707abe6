import { announceEverything } from '#server/changes.ts'
import { logger } from '#server/log.ts'
import { messageOf } from '#server/errors.ts'
import { recordOwnEngine } from '#server/nodes/own.ts'
import { ownNodeId } from '#server/nodes/store.ts'
import { schedule } from '#server/options/schedule.ts'
import type { DatastoreKeeper } from './datastores/keeper.ts'
import type { Task } from './work/driver.ts'
import { detectReach } from './environments/detect-reach.ts'
import type { LogCollector } from './logs/collector.ts'
import type { InstanceKeeper } from './instances/keeper.ts'
import type { NodeEngine } from './nodes/engines.ts'
import type { World } from './world.ts'

const log = logger('engine')

const WATCHED = new Set([
  'start',
  'die',
  'oom',
  'destroy',
  'stop',
  'kill',
  'pause',
  'unpause',
  'update',
  'rename',
])

/** What acts on the events of engines. */
export interface Followers {
  instances: InstanceKeeper
  datastores: DatastoreKeeper
  serviceLogs: LogCollector
  /** Wakes what waits for an engine. */
  wakeOthers: () => void
}

/**
 * Has everything that is about containers on a node checked: an engine forgets its events when it restarts. Then passes on its
 * events, until it goes away or the signal aborts. Throws `runtime_error`.
 */
export async function followEngine(
  { nodeId, engine }: NodeEngine,
  { instances, datastores, serviceLogs, wakeOthers }: Followers,
  signal: AbortSignal,
): Promise<void> {
  const events = await engine.events(signal)
  // Not earlier: a change between a check and the first event would go unnoticed until the next check.
  instances.engineAnswers(nodeId)
  datastores.lookAtAll()
  serviceLogs.lookAtAll()
  wakeOthers()
  for await (const event of events) {
    if (event.type !== 'container' || !WATCHED.has(event.action)) continue
    const service = event.attributes['deployer.service']
    const datastore = event.attributes['deployer.datastore']
    if (service) instances.look(service)
    if (service) serviceLogs.look(service)
    if (datastore) datastores.look(datastore)
    if (datastore && event.action === 'destroy') serviceLogs.replaced(datastore)
    else if (datastore) serviceLogs.look(datastore)
  }
}

/** Listens to the own engine's events, and records whether it answers. */
export function engineEvents(world: World, followers: Followers): Task {
  const { instances, datastores } = followers
  async function listen(signal: AbortSignal): Promise<void> {
    try {
      await followEngine({ nodeId: ownNodeId(), engine: world.engine }, followers, signal)
    } finally {
      world.engineDepartures++
    }
  }

  return {
    name: 'engine events',
    everyMs: schedule.engineRetryMs,
    async run(signal) {
      try {
        recordOwnEngine(await world.engine.info())
        await detectReach(world)
        const wasAway = world.engineFault !== null
        world.engineFault = null
        if (wasAway) {
          log.info('the engine answers again')
          announceEverything()
        }
        await listen(signal)
      } catch (error) {
        if (signal.aborted) return
        const isNew = world.engineFault === null
        world.engineFault = messageOf(error)
        if (!isNew) return
        log.warn('the engine does not answer; trying again', { error: world.engineFault })
        announceEverything()
        instances.lookAtAll()
        datastores.lookAtAll()
      }
    },
  }
}
