import { readdir, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { useContext, useDatabase } from '#server/context.ts'
import { IN_PROGRESS_SQL } from '#server/deploys/states.ts'
import { getDeploy, keptArchives, updateDeploy } from '#server/deploys/store.ts'
import { messageOf } from '#server/errors.ts'
import { removeLog } from '#server/logs/files.ts'
import { logger } from '#server/log.ts'
import { getService } from '#server/services/store.ts'
import { imageTag, readImageTag } from '../builds/tags.ts'
import type { Task } from '../work/driver.ts'
import { clockGuard } from '../work/clock-guard.ts'
import { mirrorsFolder } from '../sources/branches.ts'
import { trimMirrors } from '../sources/mirrors.ts'
import type { World } from '../world.ts'
import { runEach } from '../work/each.ts'
import { releaseOldSites, removeStrayLifts, removeStraySites } from './sites.ts'

const log = logger('cleanup')

const PERIOD_MS = 60_000
/** Images and published folders of this many live deploys are kept for rollback. */
const KEPT_LIVE = 5
/** How many deploys of a service are kept, with their logs. */
const KEPT_DEPLOYS = 500
/** Limit of the engine's build cache; on a small disk a tenth of the disk. */
const BUILD_CACHE_BYTES = 20 * 1024 ** 3
const BUILD_CACHE_SHARE = 0.1

/** Removes what the server created and no longer needs; never anything else. */
export function cleanup(world: World): Task {
  const clock = clockGuard()
  return {
    name: 'cleanup',
    everyMs: PERIOD_MS,
    async run() {
      if (clock.heldMs() > 0) return
      await runEach([
        deleteOldDeploys,
        async () => releaseOldSites(KEPT_LIVE),
        removeStrayFiles,
        removeStraySites,
        () => trimMirrors(mirrorsFolder(useContext().options.dataDirectory)),
        ...(world.reachByAddress === null ? [] : inEngine(world)),
      ])
    },
  }
}

function inEngine(world: World): (() => Promise<void>)[] {
  return [
    () => removeOldImages(world),
    () => removeStrayImages(world),
    () => removePulledImages(world),
    () => removeStrayLifts(world),
    async () => world.engine.shrinkBuildCache(await buildCacheLimit(world)),
  ]
}

async function buildCacheLimit({ engine }: World): Promise<number> {
  const { dataRoot } = await engine.info()
  // The data of an engine in a virtual machine is in a folder that this process does not see.
  const { blocks, bsize } = await statfs(dataRoot).catch(() => statfs(useContext().options.dataDirectory))
  return Math.min(BUILD_CACHE_BYTES, Math.floor(blocks * bsize * BUILD_CACHE_SHARE))
}

/** Deletes all but the newest deploys of each service, with their logs, except those whose image or folder is kept. */
async function deleteOldDeploys(): Promise<void> {
  const full = useDatabase().all<{ service_id: string }>(
    'SELECT service_id FROM deploys GROUP BY service_id HAVING count(*) > ?',
    KEPT_DEPLOYS,
  )
  for (const { service_id } of full) {
    const old = useDatabase().all<{ id: string }>(
      `SELECT id FROM deploys WHERE service_id = ? AND status NOT IN ('live', ${IN_PROGRESS_SQL})
         AND image_id IS NULL AND site_id IS NULL
       ORDER BY sequence DESC LIMIT -1 OFFSET ?`,
      service_id,
      KEPT_DEPLOYS,
    )
    for (const { id } of old) {
      log.debug('deleted an old deploy of a service with many newer ones', { id, service: service_id })
      useDatabase().run('DELETE FROM deploys WHERE id = ?', id)
      await removeLog(id)
    }
  }
}

/** Removes images of deploys that are neither among the last live ones nor in progress. */
async function removeOldImages(world: World): Promise<void> {
  const old = useDatabase().all<{ id: string; service_id: string }>(
    `SELECT id, service_id FROM (
       SELECT id, service_id, status, was_live,
         row_number() OVER (PARTITION BY service_id, was_live ORDER BY finished_at DESC) AS place
       FROM deploys WHERE image_id IS NOT NULL)
     WHERE status NOT IN ('live', ${IN_PROGRESS_SQL}) AND (was_live = 0 OR place > ?)`,
    KEPT_LIVE,
  )
  for (const { id, service_id } of old) {
    // The deploy releases its image even if a draining container still uses it; a later pass removes the name.
    updateDeploy(id, { image_id: null, snapshot: null })
    await removeImage(world, imageTag(service_id, id))
  }
}

/** Removes images of deleted services and deploys. */
async function removeStrayImages(world: World): Promise<void> {
  for (const tag of world.engine.images.names()) {
    const { serviceId, deployId } = readImageTag(tag)
    if (getService(serviceId) && hasImage(deployId)) continue
    await removeImage(world, tag)
  }
}

/** Removes pulled names that no service deploys any more; each deploy keeps its image by a name of its own. */
async function removePulledImages(world: World): Promise<void> {
  const rows = useDatabase().all<{ image: string }>(
    `SELECT image FROM services WHERE image IS NOT NULL
     UNION SELECT image FROM deploys WHERE image IS NOT NULL AND status IN (${IN_PROGRESS_SQL})`,
  )
  const except = rows.map(({ image }) => image)
  for (const name of world.engine.images.pulled({ except })) await removeImage(world, name)
}

/** Removes a name of an image; if a container still uses it, the next pass tries again. */
async function removeImage(world: World, tag: string): Promise<void> {
  try {
    await world.engine.images.remove(tag)
    log.debug('removed an image that no deploy needs', { tag })
  } catch (error) {
    log.debug('an image cannot be removed yet', { tag, error: messageOf(error) })
  }
}

/** Removes archives that no deploy will build again, and logs of deleted deploys. */
async function removeStrayFiles(): Promise<void> {
  const { dataDirectory } = useContext().options
  const building = useDatabase().all<{ archive_id: string }>(
    `SELECT archive_id FROM deploys WHERE archive_id IS NOT NULL AND status IN (${IN_PROGRESS_SQL})`,
  )
  const wanted = new Set(building.map(({ archive_id }) => archive_id))
  for (const name of await readdir(join(dataDirectory, 'archives'))) {
    const id = /^(dep-[0-9a-f]{20})\.tar\.gz$/.exec(name)?.[1]
    const serviceId = id ? getDeploy(id)?.service_id : undefined
    if (id && serviceId !== undefined && keptArchives(serviceId).has(id)) continue
    if (
      id &&
      !wanted.has(id) &&
      (serviceId !== undefined || (await isOld(join(dataDirectory, 'archives', name))))
    ) {
      await rm(join(dataDirectory, 'archives', name), { force: true })
    }
  }
  await removeStrayLogs(join(dataDirectory, 'logs'))
}

async function removeStrayLogs(folder: string): Promise<void> {
  // List the files first: a record is always created before its log.
  const names = await readdir(folder)
  const rows = useDatabase().all<{ id: string }>('SELECT id FROM deploys UNION ALL SELECT id FROM jobs')
  const known = new Set(rows.map(({ id }) => id))
  for (const name of names) {
    const id = /^((?:dep|job)-[0-9a-f]{20})\.ndjson$/.exec(name)?.[1]
    if (id && !known.has(id)) await removeLog(id)
  }
}

/** An archive is received before its deploy is recorded; if there is no record after this long, the upload was cut off. */
const UNRECORDED_MS = 10 * 60_000

async function isOld(path: string): Promise<boolean> {
  return Date.now() - (await stat(path)).mtimeMs > UNRECORDED_MS
}

/** Whether a deploy still has an image, or may be building one. */
function hasImage(id: string): boolean {
  const row = useDatabase().get(
    `SELECT 1 FROM deploys WHERE id = ? AND (image_id IS NOT NULL OR status IN (${IN_PROGRESS_SQL}))`,
    id,
  )
  return row !== undefined
}
