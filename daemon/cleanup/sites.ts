import { readdir } from 'node:fs/promises'
import { useDatabase } from '#server/context.ts'
import { IN_PROGRESS_SQL } from '#server/deploys/states.ts'
import { getDeploy, releaseSetupSecrets, updateDeploy } from '#server/deploys/store.ts'
import { siteFolder, sitesFolder } from '#server/deploys/folders.ts'
import { sizeOf } from '#server/disk-use/sizes.ts'
import { ownerName, serviceOfRun } from '../disk-use/names.ts'
import { removeTree } from '../sources/remove-tree.ts'
import { ASSETS_KEPT_MS, MAX_EARLIER } from '../proxy/sites.ts'
import type { World } from '../world.ts'
import { KEPT_LIVE } from './kept.ts'
import type { Surplus } from './surplus.ts'

/**
 * The deploys whose published folder no rollback and no page loaded before a deploy needs: the data plane looks for assets of
 * such pages in the folders that were replaced last, besides the live one.
 */
function releasableSites(): { id: string }[] {
  const now = Date.now()
  return useDatabase().all<{ id: string }>(
    `SELECT id FROM (
       SELECT *, dense_rank() OVER (PARTITION BY service_id ORDER BY folder_replaced_at DESC, site_id) AS folder_place
       FROM (
         SELECT id, service_id, site_id, status, was_live, replaced_at,
           row_number() OVER (PARTITION BY service_id, was_live ORDER BY finished_at DESC) AS place,
           max(coalesce(replaced_at, iif(status = 'live', ?1, 0))) OVER (PARTITION BY site_id) AS folder_replaced_at
         FROM deploys WHERE site_id IS NOT NULL))
     WHERE status NOT IN ('live', ${IN_PROGRESS_SQL}) AND (was_live = 0 OR place > ?2)
       AND (coalesce(replaced_at, 0) < ?3 OR folder_place > ?4)`,
    now,
    KEPT_LIVE,
    now - ASSETS_KEPT_MS,
    MAX_EARLIER + 1,
  )
}

/**
 * Records that old deploys have no published folder any more; nothing can be rolled back to them from then on. What only a
 * deploy needs that can be returned to is forgotten, once images are released as well.
 */
export function releaseOldSites(): void {
  for (const { id } of releasableSites()) updateDeploy(id, { site_id: null })
  releaseSetupSecrets()
}

/** The published folders that no deploy serves or can be rolled back to, once old ones are released. */
export async function surplusSites(): Promise<Surplus[]> {
  // List the folders first, so that a folder created in the meantime is not touched.
  const names = await readdir(sitesFolder())
  const released = new Set(releasableSites().map(({ id }) => id))
  const rows = useDatabase().all<{ id: string; site_id: string }>(
    'SELECT id, site_id FROM deploys WHERE site_id IS NOT NULL',
  )
  const wanted = new Set(rows.flatMap(({ id, site_id }) => (released.has(id) ? [] : [site_id])))
  return names.flatMap((name) => {
    const id = name.replace(/\.partial$/, '')
    // A deploy that is still publishing has not recorded its folder yet.
    if (wanted.has(name) || isUnderWay(id)) return []
    const service = serviceOfRun(id)
    return [
      {
        kind: 'sites' as const,
        id,
        name: service === null ? id : ownerName(service),
        bytes: async () => (await sizeOf(siteFolder(name))).bytes,
        async remove() {
          if (isReferred(name) || isUnderWay(id)) return false
          await removeTree(siteFolder(name))
          return true
        },
      },
    ]
  })
}

/** Removes the containers from which files were copied, if a publication was cut off and left them. */
export async function removeStrayLifts(world: World): Promise<void> {
  for (const { name, labels } of await world.engine.containers.list({ 'deployer.kind': 'lift' })) {
    if (!isUnderWay(labels['deployer.deploy'] ?? '')) await world.engine.containers.remove(name)
  }
}

function isReferred(siteId: string): boolean {
  return useDatabase().get('SELECT 1 FROM deploys WHERE site_id = ?', siteId) !== undefined
}

function isUnderWay(deployId: string): boolean {
  const status = getDeploy(deployId)?.status
  return status === 'building' || status === 'deploying'
}
