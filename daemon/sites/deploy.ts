import { stat } from 'node:fs/promises'
import { siteFolder } from '#server/deploys/folders.ts'
import { makeLive } from '#server/deploys/operations.ts'
import { getDeploy, type DeployRow } from '#server/deploys/store.ts'
import { AppError } from '#server/errors.ts'
import type { LogWriter } from '#server/logs/files.ts'
import type { World } from '../world.ts'

/**
 * Switches the routes of a service to the published folder of a deploy at once. The instance keeper then drains the
 * containers that served it before.
 */
export async function switchToSite(
  world: World,
  deploy: DeployRow,
  log: LogWriter,
  signal: AbortSignal,
): Promise<void> {
  log.steps.begin('switch', 'Switch traffic')
  await assertFolder(deploy.site_id)
  await world.dataPlane.prepare(deploy.service_id, deploy.id, signal)
  signal.throwIfAborted()
  await world.dataPlane.switchOver(deploy.service_id, deploy.id, () => makeLive(getDeploy(deploy.id)!))
  log.system('live')
}

async function assertFolder(siteId: string | null): Promise<void> {
  if (siteId !== null && (await stat(siteFolder(siteId)).catch(() => null))?.isDirectory()) return
  throw new AppError('conflict', 'the published folder no longer exists: deploy the source again')
}
