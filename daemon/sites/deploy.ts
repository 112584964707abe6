import { stat } from 'node:fs/promises'
import { makeLive } from '#server/deploys/operations.ts'
import { advance } from '#server/deploys/progress.ts'
import { getDeploy, updateDeploy, type DeployRow } from '#server/deploys/store.ts'
import { AppError } from '#server/errors.ts'
import type { LogWriter } from '#server/log-files.ts'
import { getService } from '#server/services/store.ts'
import { siteFolder } from '#server/sites.ts'
import type { World } from '../world.ts'
import { publishSite } from './publish.ts'

/**
 * Carries a static site's deploy from where it stands to live: its folder is made, then the routes switch to it at once.
 * A restart and a rollback take a folder that is there.
 */
export async function deploySite(
  world: World,
  deploy: DeployRow,
  log: LogWriter,
  signal: AbortSignal,
): Promise<void> {
  if (deploy.status !== 'deploying' && !(await prepare(world, deploy, log, signal))) return
  await assertFolder(deploy.id)
  signal.throwIfAborted()
  await world.dataPlane.switchOver(deploy.service_id, deploy.id, () => makeLive(getDeploy(deploy.id)!))
  log.system('live')
}

/** From `queued` to `deploying` with a folder; false when the deploy was canceled meanwhile. */
async function prepare(
  world: World,
  deploy: DeployRow,
  log: LogWriter,
  signal: AbortSignal,
): Promise<boolean> {
  const service = getService(deploy.service_id)!
  const started = { started_at: Date.now() }
  if (deploy.trigger === 'restart' || deploy.rollback_of !== null) {
    if (deploy.rollback_of !== null) log.system(`rolling back to ${deploy.rollback_of}`)
    const from = getDeploy(deploy.rollback_of ?? service.live_deploy_id ?? '')
    if (from)
      updateDeploy(deploy.id, {
        site_id: from.site_id,
        commit_sha: from.commit_sha,
        commit_message: from.commit_message,
        image: from.image,
        source: from.source,
      })
    return advance(deploy, 'deploying', started)
  }
  if (!advance(deploy, 'building', started)) return false
  await publishSite(world, service, deploy, log, signal)
  return advance(deploy, 'deploying')
}

async function assertFolder(id: string): Promise<void> {
  const siteId = getDeploy(id)?.site_id ?? null
  if (siteId !== null && (await stat(siteFolder(siteId)).catch(() => null))?.isDirectory()) return
  throw new AppError('conflict', 'the published folder is no longer there: deploy the source again')
}
