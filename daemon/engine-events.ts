import { announceEverything } from '#server/changes.ts'
import { logger } from '#server/log.ts'
import { messageOf } from '#server/errors.ts'
import { schedule } from '#server/options/schedule.ts'
import type { DatastoreKeeper } from './datastores/keeper.ts'
import type { Task } from './work/driver.ts'
import { detectReach } from './environments/detect-reach.ts'
import type { LogCollector } from './logs/collector.ts'
import type { InstanceKeeper } from './instances/keeper.ts'
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

/**
 * Listens to the engine's events and has the instance keeper check what they are about. The engine forgets its events when it
 * restarts, so everything is checked after each connection.
 */
export function engineEvents(
  world: World,
  instances: InstanceKeeper,
  datastores: DatastoreKeeper,
  serviceLogs: LogCollector,
  wakeOthers: () => void,
): Task {
  async function listen(signal: AbortSignal): Promise<void> {
    try {
      const events = await world.engine.events(signal)
      // Not earlier: a change between a check and the first event would go unnoticed until the next check.
      instances.engineAnswers()
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
    } finally {
      world.engineDepartures++
    }
  }

  return {
    name: 'engine events',
    everyMs: schedule.engineRetryMs,
    async run(signal) {
      try {
        await world.engine.info()
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
