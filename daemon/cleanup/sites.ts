import { readdir } from 'node:fs/promises'
import { useDatabase } from '#server/context.ts'
import { IN_PROGRESS_SQL } from '#server/deploys/states.ts'
import { getDeploy, updateDeploy } from '#server/deploys/store.ts'
import { siteFolder, sitesFolder } from '#server/deploys/folders.ts'
import { removeTree } from '../sources/remove-tree.ts'
import { ASSETS_KEPT_MS } from '../proxy/sites.ts'
import type { World } from '../world.ts'

/** Releases the published folders that no rollback and no page loaded before a deploy needs. */
export function releaseOldSites(kept: number): void {
  const old = useDatabase().all<{ id: string }>(
    `SELECT id FROM (
       SELECT id, status, was_live, replaced_at,
         row_number() OVER (PARTITION BY service_id, was_live ORDER BY finished_at DESC) AS place
       FROM deploys WHERE site_id IS NOT NULL)
     WHERE status NOT IN ('live', ${IN_PROGRESS_SQL}) AND coalesce(replaced_at, 0) < ? AND (was_live = 0 OR place > ?)`,
    Date.now() - ASSETS_KEPT_MS,
    kept,
  )
  for (const { id } of old) updateDeploy(id, { site_id: null })
}

/** Removes the folders that no deploy serves or can be rolled back to. */
export async function removeStraySites(): Promise<void> {
  // List the folders first, so that a folder created in the meantime is not touched.
  const names = await readdir(sitesFolder())
  const rows = useDatabase().all<{ site_id: string }>(
    'SELECT DISTINCT site_id FROM deploys WHERE site_id IS NOT NULL',
  )
  const wanted = new Set(rows.map(({ site_id }) => site_id))
  for (const name of names) {
    const id = name.replace(/\.partial$/, '')
    // A deploy that is still publishing has not recorded its folder yet.
    if (!wanted.has(name) && !isUnderWay(id)) await removeTree(siteFolder(name))
  }
}

/** Removes the containers from which files were copied, if a publication was cut off and left them. */
export async function removeStrayLifts(world: World): Promise<void> {
  for (const { name, labels } of await world.engine.containers.list({ 'deployer.kind': 'lift' })) {
    if (!isUnderWay(labels['deployer.deploy'] ?? '')) await world.engine.containers.remove(name)
  }
}

function isUnderWay(deployId: string): boolean {
  const status = getDeploy(deployId)?.status
  return status === 'building' || status === 'deploying'
}
