import { readdir } from 'node:fs/promises'
import { useDatabase } from '#server/context.ts'
import { IN_PROGRESS_SQL } from '#server/deploys/states.ts'
import { getDeploy, updateDeploy } from '#server/deploys/store.ts'
import { siteFolder, sitesFolder } from '#server/deploys/folders.ts'
import { removeTree } from '../sources/remove-tree.ts'
import { ASSETS_KEPT_MS } from '../proxy/sites.ts'
import type { World } from '../world.ts'

/** Lets go of the published folders that neither a rollback nor a page loaded before a deploy needs. */
export function forgetOldSites(kept: number): void {
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

/** Removes the folders that no deploy serves or may go back to. */
export async function removeStraySites(): Promise<void> {
  // The folders first: one that is made meanwhile is not looked at.
  const names = await readdir(sitesFolder())
  const rows = useDatabase().all<{ site_id: string }>(
    'SELECT DISTINCT site_id FROM deploys WHERE site_id IS NOT NULL',
  )
  const wanted = new Set(rows.map(({ site_id }) => site_id))
  for (const name of names) {
    const id = name.replace(/\.partial$/, '')
    // One that is being made has no record of its folder yet.
    if (!wanted.has(name) && !isUnderWay(id)) await removeTree(siteFolder(name))
  }
}

/** Removes containers that files were lifted from, left by a publication that was cut off. */
export async function removeStrayLifts(world: World): Promise<void> {
  for (const { name, labels } of await world.engine.containers.list({ 'deployer.kind': 'lift' })) {
    if (!isUnderWay(labels['deployer.deploy'] ?? '')) await world.engine.containers.remove(name)
  }
}

function isUnderWay(deployId: string): boolean {
  const status = getDeploy(deployId)?.status
  return status === 'building' || status === 'deploying'
}
