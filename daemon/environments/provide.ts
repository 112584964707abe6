import { setTimeout as delay } from 'node:timers/promises'
import { listEnvironments, type Environment } from '#server/environments/store.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import type { Task } from '../work/driver.ts'
import type { World } from '../world.ts'
import { guardMetadata } from './metadata.ts'
import { environmentOf, networkName } from './names.ts'
import { ensureNetwork } from './networks.ts'
import { removeOverlay } from './overlays.ts'
import { forgetResolver, removeLeftProbes } from './resolver.ts'

const log = logger('environments')

/** A network is created in less than a second; a request does not wait longer than this for a slow engine. */
const CREATE_MS = 10_000
const PERIOD_MS = 60_000

/**
 * Creates a new environment's network. Nothing is lost while the engine is down or slow: the first container creates it.
 * Throws `runtime_error` when the engine refuses.
 */
export async function provideNetwork(world: World, environment: Environment): Promise<void> {
  if (world.reachByAddress === null || world.engineFault !== null) return
  const created = ensureNetwork(world, environment).then(() => world.dataPlane.sync())
  try {
    await Promise.race([created, delay(CREATE_MS, undefined, { ref: false })])
  } catch (error) {
    throw new AppError('runtime_error', `saved; not applied yet: ${messageOf(error)}`, { cause: error })
  } finally {
    // After the time is up, nothing waits for it any more.
    created.catch(() => {})
  }
}

/** Removes the network of a deleted environment. If that fails, the task tries again. */
export async function removeNetwork(world: World, environment: Environment): Promise<void> {
  const removal = remove(world, environment.id).catch((error: unknown) =>
    log.warn('a private network could not be removed yet', {
      environment: environment.name,
      error: messageOf(error),
    }),
  )
  await Promise.race([removal, delay(CREATE_MS, undefined, { ref: false })])
}

/**
 * Removes this server's networks whose environment is gone and probes that could not be removed, and keeps the packet filter's
 * rules for the others current.
 */
export function environments(world: World): Task {
  return {
    name: 'environments',
    everyMs: PERIOD_MS,
    async run(signal) {
      if (world.reachByAddress === null) return
      const known = new Set(listEnvironments().map(({ id }) => id))
      for (const name of world.engine.networks.names()) {
        signal.throwIfAborted()
        const id = environmentOf(name)
        if (known.has(id)) continue
        await remove(world, id).catch((error: unknown) =>
          log.warn('a private network cannot be removed yet', { network: name, error: messageOf(error) }),
        )
      }
      if (world.engineFault !== null) return
      await removeLeftProbes(world)
      // Another program may have emptied the packet filter.
      await guardMetadata(world)
    },
  }
}

async function remove(world: World, environmentId: string): Promise<void> {
  await forgetResolver(world, environmentId)
  // The data plane must stop answering for its names before its addresses go.
  await world.dataPlane.sync()
  await world.engine.networks.remove(networkName({ id: environmentId }))
  await removeOverlay(world, environmentId)
}
