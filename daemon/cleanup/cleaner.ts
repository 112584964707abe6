import { CLEANUP_KINDS, type CleanupKind } from '#server/disk-use/kinds.ts'
import type { CleanupResult } from '#server/disk-use/schema.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { assertUnfenced } from '#server/restore/fence.ts'
import { Slots } from '#server/work/slots.ts'
import { clockGuard } from '../work/clock-guard.ts'
import type { Task } from '../work/driver.ts'
import { runEach } from '../work/each.ts'
import type { EngineUse } from '../engine/index.ts'
import type { World } from '../world.ts'
import { surplusArchives } from './archives.ts'
import { surplusCache } from './build-cache.ts'
import { releaseOldImages, surplusImages } from './images.ts'
import { surplusVolumes } from './kept-volumes.ts'
import { surplusLogs } from './logs.ts'
import { surplusMirrors } from './mirrors.ts'
import { surplusImagesOfNodes } from './node-images.ts'
import { releaseOldSites, removeStrayLifts, surplusSites } from './sites.ts'
import type { Surplus } from './surplus.ts'

const log = logger('cleanup')

const PERIOD_MS = 60_000
/** What one cleanup removes, so that its answer stays small; what is left is for the next. */
const MAX_REMOVED = 10_000

/** How one kind is cleaned up. */
interface Way {
  inEngine: boolean
  /** Records that what is kept only by the records of old deploys is no longer kept, before anything is removed. */
  release?: () => void
  /** What can be removed once that is recorded; `use` says what takes room in the engine. */
  find: (world: World, use: () => Promise<EngineUse>) => Promise<Surplus[]>
}

/**
 * In the order in which they run: those in the engine first, so that nothing is removed if it does not answer; records of old
 * deploys can be deleted once their images and sites are released.
 */
const WAYS: Record<CleanupKind, Way> = {
  images: {
    inEngine: true,
    release: releaseOldImages,
    find: async (world, use) => [...surplusImages(world, use), ...surplusImagesOfNodes(world)],
  },
  kept_volumes: { inEngine: true, find: async (...from) => surplusVolumes(...from) },
  build_cache: { inEngine: true, find: surplusCache },
  archives: { inEngine: false, find: surplusArchives },
  sites: { inEngine: false, release: releaseOldSites, find: surplusSites },
  logs: { inEngine: false, find: surplusLogs },
  mirrors: { inEngine: false, find: surplusMirrors },
}
const ORDER = Object.keys(WAYS) as CleanupKind[]

/** Removes what the server created and no longer needs; never anything else. */
export class Cleaner {
  readonly #world: World
  readonly #clock = clockGuard()
  /** One at a time: two would find the same things. */
  readonly #turn = new Slots(1)
  #onRoom: () => void = () => {}

  constructor(world: World) {
    this.#world = world
  }

  /** Returns the task for a driver, which cleans up all kinds; `onRoom` is called after each cleanup that removed anything. */
  task(onRoom: () => void): Task {
    this.#onRoom = onRoom
    return {
      name: 'cleanup',
      everyMs: PERIOD_MS,
      run: async () => {
        if (this.#clock.heldMs() > 0) return
        await this.#turn.run(() =>
          runEach([
            ...this.#reachable(ORDER).map((kind) => () => this.#cleanQuietly(kind)),
            ...(this.#reachesEngine
              ? [() => removeStrayLifts(this.#world), () => this.#world.machines.cleanRegistry()]
              : []),
          ]),
        )
      },
    }
  }

  /**
   * Cleans up these kinds, or all that can be reached, and returns what was removed; with `isDry` only what would be. Throws
   * `runtime_error` if the engine is needed and does not answer, `conflict` while the host's clock cannot be trusted or a
   * restore is not confirmed.
   */
  async clean(
    kinds: readonly CleanupKind[] | undefined,
    isDry: boolean,
    signal: AbortSignal,
  ): Promise<CleanupResult> {
    if (!isDry) assertUnfenced()
    const heldMs = this.#clock.heldMs()
    if (heldMs > 0)
      throw new AppError(
        'conflict',
        `the clock of the host was set a moment ago, so it is unknown what is old: try again in ${Math.ceil(heldMs / 1_000)} seconds`,
      )
    if (!this.#reachesEngine && kinds?.some((kind) => WAYS[kind].inEngine))
      throw new AppError(
        'runtime_error',
        'the container engine does not answer: start it, or name only kinds outside of it',
      )
    const wanted = ORDER.filter((kind) => (kinds ?? CLEANUP_KINDS).includes(kind))
    return this.#turn.run(() => this.#cleanUp(this.#reachable(wanted), isDry, signal), signal)
  }

  get #reachesEngine(): boolean {
    return this.#world.reachByAddress !== null && this.#world.engineFault === null
  }

  #reachable(kinds: readonly CleanupKind[]): CleanupKind[] {
    return kinds.filter((kind) => !WAYS[kind].inEngine || this.#reachesEngine)
  }

  async #cleanUp(kinds: readonly CleanupKind[], isDry: boolean, signal: AbortSignal): Promise<CleanupResult> {
    const removed: CleanupResult['removed'] = []
    const use = once(() => this.#world.engine.diskUse())
    for (const kind of kinds) {
      if (!isDry) WAYS[kind].release?.()
      for (const surplus of await WAYS[kind].find(this.#world, use)) {
        // What is removed by then has been removed: the next cleanup goes on.
        if (signal.aborted || removed.length === MAX_REMOVED) break
        const bytes = await surplus.bytes()
        if (isDry || (await this.#remove(surplus)))
          removed.push({ kind, id: surplus.id, name: surplus.name, bytes })
      }
    }
    if (!isDry && removed.length > 0) this.#onRoom()
    return { removed, freed_bytes: removed.reduce((sum, { bytes }) => sum + bytes, 0) }
  }

  /** What cannot be removed now, such as a volume that is still in use, does not keep the rest. */
  async #remove(surplus: Surplus): Promise<boolean> {
    try {
      return await surplus.remove()
    } catch (error) {
      const { kind, id } = surplus
      log.warn('something that nothing needs cannot be removed yet', { kind, id, error: messageOf(error) })
      return false
    }
  }

  /** Does not ask for sizes, which can take the engine long. */
  async #cleanQuietly(kind: CleanupKind): Promise<void> {
    const { release, find } = WAYS[kind]
    release?.()
    const found = await find(this.#world, () => this.#world.engine.diskUse())
    let removed = 0
    await runEach(found.map((each) => async () => void (removed += Number(await each.remove()))))
    if (removed > 0) this.#onRoom()
  }
}

/** Does work at the first call and returns its result to all. */
function once<T>(work: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined
  return () => (result ??= work())
}
