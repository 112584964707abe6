import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { useContext, useDatabase } from '#server/context.ts'
import { IN_PROGRESS_SQL } from '#server/deploys/states.ts'
import { newestArchive, updateDeploy, type DeployRow } from '#server/deploys/store.ts'
import { messageOf } from '#server/errors.ts'
import { removeLog } from '#server/log-files.ts'
import { logger } from '#server/log.ts'
import { allServices, getService, type ServiceRow } from '#server/services/store.ts'
import { imagePrefix, imageTag, readImageTag } from '../builds/tags.ts'
import type { Task } from '../driver.ts'
import type { World } from '../world.ts'

const log = logger('cleanup')

const PERIOD_MS = 60_000
/** Images of this many live deploys are kept for rollback. */
const KEPT_IMAGES = 5
/** Deploys with their logs that are kept of a service. */
const KEPT_DEPLOYS = 500
/** The engine's build cache may grow to this; least recently used goes first. */
const BUILD_CACHE_BYTES = 20 * 1024 ** 3

/** Removes what the server made and no longer needs; never anything else. */
export function cleanup(world: World): Task {
  return {
    name: 'cleanup',
    everyMs: PERIOD_MS,
    async run() {
      for (const service of allServices()) {
        await forgetOldDeploys(service)
        if (world.reachByAddress !== null) await removeOldImages(world, service)
      }
      await removeStrayFiles()
      if (world.reachByAddress !== null) {
        await removeStrayImages(world)
        await world.engine.pruneBuildCache(BUILD_CACHE_BYTES)
      }
    },
  }
}

async function forgetOldDeploys(service: ServiceRow): Promise<void> {
  const old = useDatabase().all<{ id: string }>(
    `SELECT id FROM deploys WHERE service_id = ? AND status NOT IN ('live', ${IN_PROGRESS_SQL}) AND image_id IS NULL
     ORDER BY sequence DESC LIMIT -1 OFFSET ?`,
    service.id,
    KEPT_DEPLOYS,
  )
  for (const { id } of old) {
    useDatabase().run('DELETE FROM deploys WHERE id = ?', id)
    await removeLog(id)
  }
}

/** Images of deploys that are neither among the last live ones nor under way. */
async function removeOldImages(world: World, service: ServiceRow): Promise<void> {
  const kept = useDatabase().all<{ id: string }>(
    'SELECT id FROM deploys WHERE service_id = ? AND was_live = 1 AND image_id IS NOT NULL ORDER BY finished_at DESC LIMIT ?',
    service.id,
    KEPT_IMAGES,
  )
  const keptIds = new Set([...kept.map(({ id }) => id), service.live_deploy_id])
  const candidates = useDatabase().all<DeployRow>(
    `SELECT * FROM deploys WHERE service_id = ? AND image_id IS NOT NULL AND status NOT IN ('live', ${IN_PROGRESS_SQL})`,
    service.id,
  )
  for (const { id } of candidates) {
    if (keptIds.has(id)) continue
    // The deploy gives its image up even when a draining container still holds it; the name goes with a later pass.
    updateDeploy(id, { image_id: null, snapshot: null })
    await removeImage(world, imageTag(service.id, id))
  }
}

/** Images of services and deploys that are no more. */
async function removeStrayImages(world: World): Promise<void> {
  for (const { tags } of await world.engine.images.list(imagePrefix())) {
    for (const tag of tags) {
      const { serviceId, deployId } = readImageTag(tag)
      if (getService(serviceId) && hasImage(deployId)) continue
      await removeImage(world, tag)
    }
  }
}

/** Takes a name from an image; one that a container still runs keeps it until the next pass. */
async function removeImage(world: World, tag: string): Promise<void> {
  try {
    await world.engine.images.remove(tag)
  } catch (error) {
    log.debug('an image cannot be removed yet', { tag, error: messageOf(error) })
  }
}

/** Archives that no deploy will build again, and logs of deploys that are no more. */
async function removeStrayFiles(): Promise<void> {
  const { dataDirectory } = useContext().options
  const wanted = new Set<string>()
  for (const { id } of allServices()) {
    const newest = newestArchive(id)
    if (newest !== null) wanted.add(newest)
  }
  const building = useDatabase().all<{ archive_id: string }>(
    `SELECT archive_id FROM deploys WHERE archive_id IS NOT NULL AND status IN (${IN_PROGRESS_SQL})`,
  )
  for (const { archive_id } of building) wanted.add(archive_id)
  for (const name of await readdir(join(dataDirectory, 'archives'))) {
    const id = /^(dep-[0-9a-f]{20})\.tar\.gz$/.exec(name)?.[1]
    if (id && !wanted.has(id) && (deployExists(id) || (await isOld(join(dataDirectory, 'archives', name))))) {
      await rm(join(dataDirectory, 'archives', name), { force: true })
    }
  }
  for (const name of await readdir(join(dataDirectory, 'logs'))) {
    const id = /^(dep-[0-9a-f]{20})\.ndjson$/.exec(name)?.[1]
    if (id && !deployExists(id)) await removeLog(id)
  }
}

/** An archive is received before its deploy is recorded; one without a record for this long was cut off. */
const UNRECORDED_MS = 10 * 60_000

async function isOld(path: string): Promise<boolean> {
  return Date.now() - (await stat(path)).mtimeMs > UNRECORDED_MS
}

/** Whether a deploy still keeps an image, or may be making one. */
function hasImage(id: string): boolean {
  const row = useDatabase().get(
    `SELECT 1 FROM deploys WHERE id = ? AND (image_id IS NOT NULL OR status IN (${IN_PROGRESS_SQL}))`,
    id,
  )
  return row !== undefined
}

function deployExists(id: string): boolean {
  return useDatabase().get('SELECT 1 FROM deploys WHERE id = ?', id) !== undefined
}
