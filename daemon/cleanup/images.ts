import { useDatabase } from '#server/context.ts'
import { IN_PROGRESS_SQL } from '#server/deploys/states.ts'
import { updateDeploy } from '#server/deploys/store.ts'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { getService } from '#server/services/store.ts'
import { readImageTag } from '../builds/tags.ts'
import { ownerName } from '../disk-use/names.ts'
import type { EngineUse } from '../engine/index.ts'
import type { World } from '../world.ts'
import { KEPT_LIVE } from './kept.ts'
import type { Surplus } from './surplus.ts'

const log = logger('cleanup')

/** The deploys whose image nothing needs: neither among the last live ones, nor in progress, nor what a rollback waits for. */
function releasableImages(): { id: string }[] {
  return useDatabase().all<{ id: string }>(
    `SELECT id FROM (
       SELECT id, service_id, status, was_live,
         row_number() OVER (PARTITION BY service_id, was_live ORDER BY finished_at DESC) AS place
       FROM deploys WHERE image_id IS NOT NULL)
     WHERE status NOT IN ('live', ${IN_PROGRESS_SQL}) AND (was_live = 0 OR place > ?)
       AND id NOT IN (SELECT rollback_of FROM deploys WHERE rollback_of IS NOT NULL AND status IN (${IN_PROGRESS_SQL}))`,
    KEPT_LIVE,
  )
}

/** Records that old deploys have no image any more; nothing can be rolled back to them from then on. */
export function releaseOldImages(): void {
  for (const { id } of releasableImages()) updateDeploy(id, { image_id: null, snapshot: null })
}

/**
 * The names of images of deleted services and deploys, of deploys that are released, and those that were pulled and that no
 * service deploys and no datastore runs any more: each deploy keeps its image by a name of its own. `use` says what takes room
 * in the engine.
 */
export function surplusImages(world: World, use: () => Promise<EngineUse>): Surplus[] {
  const { images } = world.engine
  const released = new Set(releasableImages().map(({ id }) => id))
  const tags = images.names().filter((tag) => released.has(readImageTag(tag).deployId) || isStray(tag))
  const pulled = images.pulled({ except: namesInUse() })
  const sizes = new ImageSizes([...tags, ...pulled], use)
  return [
    ...tags.map((tag) => surplusImage(world, tag, sizes, () => isStray(tag))),
    ...pulled.map((name) =>
      surplusImage(world, name, sizes, () => images.pulled({ except: namesInUse() }).includes(name)),
    ),
  ]
}

function surplusImage(world: World, name: string, sizes: ImageSizes, isSurplus: () => boolean): Surplus {
  const { serviceId, deployId } = readImageTag(name)
  return {
    kind: 'images',
    id: deployId || name,
    name: serviceId.startsWith('srv-') ? ownerName(serviceId) : name,
    bytes: () => sizes.of(name),
    async remove() {
      if (!isSurplus()) return false
      try {
        await world.engine.images.remove(name)
        log.debug('removed an image that no deploy needs', { tag: name })
        return true
      } catch (error) {
        // A container still uses it; the next pass tries again.
        log.debug('an image cannot be removed yet', { tag: name, error: messageOf(error) })
        return false
      }
    },
  }
}

/** What the removal of names frees: an image goes with the last of its names. */
class ImageSizes {
  readonly #removed: ReadonlySet<string>
  readonly #use: () => Promise<EngineUse>
  readonly #counted = new Set<string>()

  constructor(removed: readonly string[], use: () => Promise<EngineUse>) {
    this.#removed = new Set(removed)
    this.#use = use
  }

  async of(name: string): Promise<number> {
    const image = (await this.#use()).images.find(({ names }) => names.includes(name))
    const isGone = image?.names.every((each) => this.#removed.has(each)) ?? false
    if (!image || !isGone || this.#counted.has(image.id)) return 0
    this.#counted.add(image.id)
    return image.bytes
  }
}

/**
 * The images of services and of deploys in progress, as users wrote them, and those of datastores, with what they are being
 * upgraded to: a datastore's container may have to be created again at any time.
 */
export function namesInUse(): string[] {
  const rows = useDatabase().all<{ image: string }>(
    `SELECT image FROM services WHERE image IS NOT NULL
     UNION SELECT image FROM deploys WHERE image IS NOT NULL AND status IN (${IN_PROGRESS_SQL})
     UNION SELECT repository || ':' || version FROM datastores
     UNION SELECT repository || ':' || replacements.version
       FROM replacements JOIN datastores ON datastores.id = datastore_id`,
  )
  return rows.map(({ image }) => image)
}

/** Whether a name belongs to a deleted service, or to a deploy that neither has an image nor may be building one. */
function isStray(tag: string): boolean {
  const { serviceId, deployId } = readImageTag(tag)
  if (!getService(serviceId)) return true
  const row = useDatabase().get(
    `SELECT 1 FROM deploys WHERE id = ? AND (image_id IS NOT NULL OR status IN (${IN_PROGRESS_SQL}))`,
    deployId,
  )
  return row === undefined
}
