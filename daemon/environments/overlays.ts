import { setTimeout as delay } from 'node:timers/promises'
import {
  listEnvironments,
  loadEnvironment,
  setOverlaySubnet,
  type Environment,
} from '#server/environments/store.ts'
import { overlayAddress, type Overlay } from '#server/environments/overlay.ts'
import { addressAt } from '#server/instances/addresses.ts'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { hasOtherNodes } from '#server/nodes/store.ts'
import { swarmSilence } from '#server/nodes/managers.ts'
import { AppError } from '#server/errors.ts'
import type { Engine } from '../engine/index.ts'
import type { Task } from '../work/driver.ts'
import { forEachLimited } from '../work/each.ts'
import type { World } from '../world.ts'
import { ensureAnchor, removeAnchor } from './anchor.ts'
import { isOverlayName, networkName, overlayName } from './names.ts'
import { closeWay, openWay } from './router.ts'
import { createInFreeSubnet, inTurn } from './subnets.ts'

const log = logger('environments')

/** The anchor may end at any time, and with it the way to the other nodes. */
const PERIOD_MS = 3_000
const PARALLEL_JOINS = 4
const FREE_WITHIN_MS = 10_000
const FREE_PERIOD_MS = 500
/** Another program may have changed the host's routes or its packet filter. */
const SET_AGAIN_MS = 60_000
/** What could not be set is not tried again sooner: many containers may ask for it at once. */
const RETRY_MS = 5_000
/**
 * The engines allot addresses of the first 16 themselves, which this server leaves free: one to each node. They take the
 * lowest ones first, so that the last one is the anchor's.
 */
const RANGE_PREFIX = 28
const ANCHOR_OFFSET = 15

/** The last way between the host and the overlays: how it was, which overlays it has, and when it was set. */
let way: { key: string; overlays: ReadonlySet<string>; setAt: number } | null = null
/** Why it could not be set at last, and when that was tried; null when it could. */
let failure: { error: unknown; triedAt: number } | null = null

/**
 * Makes sure that an environment's overlay exists and that the host reaches it; null on a server of one node. The environment
 * must have its subnet. Throws `runtime_error`, `not_found` when the environment was deleted in the meantime.
 */
export async function ensureOverlay(world: World, environment: Environment): Promise<Overlay | null> {
  if (!hasOtherNodes()) return null
  // The engine would try for 20 s for each container, and in vain.
  const silence = swarmSilence()
  if (silence !== null)
    throw new AppError('runtime_error', `no container joins a network across the nodes now: ${silence}`)
  const known = loadEnvironment(environment.id)
  const existing = await world.engine.networks.inspect(overlayName(known))
  if (existing && existing.subnet === known.overlay_subnet && way?.overlays.has(existing.id))
    return overlayOf(known, existing.id)
  return inTurn(async () => {
    const overlay = await findOrCreate(world.engine, loadEnvironment(environment.id))
    await setWay(world)
    return overlay
  })
}

/**
 * Brings the own node's side of the overlays up to date: on a server of several nodes each environment has one, the host
 * reaches it, and every container that runs here is in it; on a server of one node there is none. Throws `runtime_error`.
 */
export async function reconcileOverlays(world: World): Promise<void> {
  if (!hasOtherNodes()) return dissolve(world)
  await inTurn(async () => {
    for (const environment of listEnvironments())
      if (environment.subnet !== null) await findOrCreate(world.engine, environment)
    await setWay(world)
  })
  await joinContainers(world)
}

/** Keeps the overlays as they should be while there are other nodes. */
export function overlays(world: World): Task {
  return {
    name: 'overlays',
    everyMs: PERIOD_MS,
    async run() {
      // Without the swarm nothing of it can change, and each try would hold up other networks for 20 s.
      const isAble = world.reachByAddress && world.engineFault === null && swarmSilence() === null
      if (isAble) await reconcileOverlays(world)
    },
  }
}

/** Removes the overlay of a deleted environment, if it has one. Throws `runtime_error`. */
export async function removeOverlay(world: World, environmentId: string): Promise<void> {
  const name = overlayName({ id: environmentId })
  if (!world.engine.networks.names().includes(name)) return
  // Takes the anchor out of it.
  await inTurn(() => setWay(world))
  await removeWhenFree(world.engine, name)
}

/** Removes an overlay. A manager learns only seconds later that the last container of another node is gone from it. */
async function removeWhenFree(engine: Engine, name: string): Promise<void> {
  for (const began = performance.now(); ; await delay(FREE_PERIOD_MS)) {
    try {
      return await engine.networks.remove(name)
    } catch (error) {
      if (performance.now() - began > FREE_WITHIN_MS) throw error
    }
  }
}

async function findOrCreate(engine: Engine, environment: Environment): Promise<Overlay> {
  const name = overlayName(environment)
  const existing = await engine.networks.inspect(name)
  if (existing?.subnet) {
    setOverlaySubnet(environment.id, existing.subnet)
    return overlayOf({ ...environment, overlay_subnet: existing.subnet }, existing.id)
  }
  // Never its former subnet, to which the host may still have a route.
  const { id, subnet } = await createInFreeSubnet(engine, null, (subnet) =>
    engine.networks.create({
      name,
      driver: 'overlay',
      subnet,
      range: `${addressAt(subnet, 0)}/${RANGE_PREFIX}`,
      gateway: addressAt(subnet, 1),
      labels: { 'deployer.environment': environment.id },
    }),
  )
  setOverlaySubnet(environment.id, subnet)
  log.info('a private network spans the nodes', { environment: environment.name, subnet })
  return overlayOf({ ...environment, overlay_subnet: subnet }, id)
}

function overlayOf(environment: Environment, id: string): Overlay {
  const subnet = environment.overlay_subnet!
  return {
    id,
    name: overlayName(environment),
    subnet,
    nameServer: addressAt(subnet, ANCHOR_OFFSET),
    addressOf: (address) => overlayAddress(environment, address),
  }
}

/** The engine's networks by name. */
async function networksByName(engine: Engine): Promise<Map<string, string>> {
  return new Map((await engine.networks.list()).map(({ name, id }) => [name, id]))
}

/** The overlays of all environments that have one. Throws `runtime_error`. */
export async function overlaysOf(engine: Engine): Promise<Overlay[]> {
  const ids = await networksByName(engine)
  return listEnvironments().flatMap((environment) => {
    const id = ids.get(overlayName(environment))
    return id !== undefined && environment.overlay_subnet !== null ? [overlayOf(environment, id)] : []
  })
}

/** Why the host does not reach the overlays; null if it does, or was not to. */
export function wayFault(): string | null {
  return failure && messageOf(failure.error)
}

/** Leads the host into the overlays, by the anchor, unless that is done. Throws what the last try threw, if that was just now. */
async function setWay(world: World): Promise<void> {
  if (failure && performance.now() - failure.triedAt < RETRY_MS) throw failure.error
  try {
    await openWhatIsMissing(world)
    failure = null
  } catch (error) {
    way = null
    failure = { error, triedAt: performance.now() }
    throw error
  }
}

async function openWhatIsMissing({ engine, machines, dataPlane }: World): Promise<void> {
  const overlays = await overlaysOf(engine)
  const [first, ...others] = overlays
  if (!first) return
  const namespace = await ensureAnchor(engine, () => machines.agentImage(), [first, ...others])
  const key = [namespace, ...overlays.map(({ id }) => id)].join(' ')
  if (way?.key === key && performance.now() - way.setAt < SET_AGAIN_MS) return
  await openWay(namespace, overlays)
  const isNew = way?.key !== key
  way = { key, overlays: new Set(overlays.map(({ id }) => id)), setAt: performance.now() }
  // A data plane that cannot be reached gets the new names once it is back.
  if (isNew) await dataPlane.sync().catch(() => {})
}

/** Joins every container of an environment that runs here to its overlay. */
async function joinContainers({ engine }: World): Promise<void> {
  const ids = await networksByName(engine)
  const running = await engine.containers.running()
  const joins: { overlay: string; id: string; address: string }[] = []
  for (const environment of listEnvironments()) {
    const [bridge, overlay] = [ids.get(networkName(environment)), ids.get(overlayName(environment))]
    if (overlay === undefined || environment.overlay_subnet === null) continue
    for (const { state, isRecorded } of running) {
      const home = state.networks.find(({ id }) => id === bridge)?.address
      if (!isRecorded || !home || state.networks.some(({ id }) => id === overlay)) continue
      joins.push({ overlay, id: state.id, address: overlayAddress(environment, home) })
    }
  }
  await forEachLimited(joins, PARALLEL_JOINS, ({ overlay, id, address }) =>
    engine.networks.connect(overlay, id, address),
  )
}

/** Removes all overlays of a server that is single again. The containers run on. */
async function dissolve(world: World): Promise<void> {
  const { engine, dataPlane } = world
  const names = engine.networks.names().filter(isOverlayName)
  const spanning = listEnvironments().filter(({ overlay_subnet }) => overlay_subnet !== null)
  if (names.length === 0 && spanning.length === 0) return
  way = null
  failure = null
  for (const { id } of spanning) setOverlaySubnet(id, null)
  await dataPlane.sync().catch(() => {})
  await inTurn(async () => {
    await removeAnchor(engine)
    await closeWay()
    const ids = await networksByName(engine)
    const overlays = new Set(names.map((name) => ids.get(name)))
    // Also those that do not run: without a network that they were in they would not start again.
    for (const container of await engine.containers.list({}))
      for (const { id } of container.networks)
        if (overlays.has(id)) await engine.networks.disconnect(id, container.id)
    for (const name of names) await removeWhenFree(engine, name)
  })
  log.info('private networks are on one node again')
}
