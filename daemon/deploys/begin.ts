import { advance } from '#server/deploys/progress.ts'
import { recordSetup } from '#server/deploys/setup.ts'
import { restoreSnapshot, takeSnapshot, type ImageFacts } from '#server/deploys/snapshot.ts'
import {
  getDeploy,
  openSnapshot,
  UNPLANNED,
  updateDeploy,
  type DeployRow,
  type PlannedRun,
  type Snapshot,
} from '#server/deploys/store.ts'
import { AppError } from '#server/errors.ts'
import type { LogWriter } from '#server/logs/files.ts'
import { getService, type ServiceRow } from '#server/services/store.ts'
import { pullImage } from '../builds/pull.ts'
import { imageTag } from '../builds/tags.ts'
import { publishImage } from '../sites/publish.ts'
import type { World } from '../world.ts'
import { makeFromSource } from './from-source.ts'
import { columnsOf, type Deployable } from './made.ts'
import { isFromSource } from './origin.ts'

/**
 * Takes a deploy from `queued` to `deploying` and returns what it goes live with; null if it was canceled meanwhile, or is
 * in the queue again.
 */
export async function begin(
  world: World,
  deploy: DeployRow,
  log: LogWriter,
  signal: AbortSignal,
): Promise<Deployable | null> {
  const service = getService(deploy.service_id)!
  const isReused = deploy.trigger === 'restart' || deploy.rollback_of !== null
  if (!isReused) recordSetup(deploy.id, service, 'build', 'run')
  if (isFromSource(deploy)) return await makeFromSource(world, service, deploy, log, signal)
  const columns = { started_at: Date.now() }
  if (service.type === 'static_site' && !isReused) {
    if (!advance(deploy, 'building', columns)) return null
    return (await publishImage(world, service, deploy, log, signal)) ? 'site' : null
  }
  if (!advance(deploy, 'deploying', columns)) return null
  return prepareExisting(world, service, deploy, log, signal)
}

/** Continues a deploy that was rolling out when the server stopped or the engine went away. */
export async function resume(
  world: World,
  deploy: DeployRow,
  log: LogWriter,
  signal: AbortSignal,
): Promise<Deployable> {
  if (deploy.site_id !== null) return 'site'
  const kept = deploy.rollback_of === null ? openSnapshot(deploy) : null
  if (kept) return kept
  if (isFromSource(deploy)) throw new AppError('runtime_error', 'the built image is gone: deploy again')
  return prepareExisting(world, getService(deploy.service_id)!, deploy, log, signal)
}

/** Takes an existing image or published folder, or pulls an image. */
async function prepareExisting(
  world: World,
  service: ServiceRow,
  deploy: DeployRow,
  log: LogWriter,
  signal: AbortSignal,
): Promise<Deployable> {
  if (deploy.rollback_of !== null) return await rollBack(world, service, deploy, log)
  if (deploy.trigger !== 'restart') {
    const image = await pullImage(world, deploy, log, signal)
    return await runImage(world, service, deploy, image, UNPLANNED)
  }
  const live = service.live_deploy_id === null ? undefined : getDeploy(service.live_deploy_id)
  if (live) copyOrigin(deploy, live)
  if (live && live.site_id !== null) return 'site'
  const image = live?.image_id ? await world.engine.images.inspect(live.image_id) : null
  if (!live || !image) throw new AppError('conflict', 'the live image no longer exists: deploy again')
  return await runImage(world, service, deploy, image, openSnapshot(live)?.planned ?? UNPLANNED)
}

async function rollBack(
  world: World,
  service: ServiceRow,
  deploy: DeployRow,
  log: LogWriter,
): Promise<Deployable> {
  log.system(`rolling back to ${deploy.rollback_of}`)
  if (deploy.site_id !== null) return 'site'
  const snapshot = openSnapshot(deploy)
  if (!snapshot || !(await world.engine.images.inspect(snapshot.image_id))) {
    throw new AppError(
      'conflict',
      `the image of ${deploy.rollback_of} no longer exists: deploy its commit again`,
    )
  }
  await world.engine.images.tag(snapshot.image_id, imageTag(service.id, deploy.id))
  const restored = restoreSnapshot(snapshot, service)
  updateDeploy(deploy.id, { ...columnsOf(restored), image_id: restored.image_id })
  recordSetup(deploy.id, service, 'limits')
  return restored
}

/** Copies to a deploy what it has in common with the one whose files or image it uses. */
function copyOrigin(
  deploy: DeployRow,
  { site_id, commit_sha, commit_message, commit_author, image, source, setup, setup_secrets }: DeployRow,
): void {
  const origin = { site_id, commit_sha, commit_message, commit_author, image, source }
  updateDeploy(deploy.id, { ...origin, setup, setup_secrets })
}

async function runImage(
  world: World,
  service: ServiceRow,
  deploy: DeployRow,
  image: ImageFacts,
  planned: PlannedRun,
): Promise<Snapshot> {
  // Each deploy keeps its image by a name of its own, so that the cleanup of one never removes another's.
  await world.engine.images.tag(image.id, imageTag(service.id, deploy.id))
  const current = getService(service.id) ?? service
  const snapshot = takeSnapshot(current, image, planned)
  // A deploy that has a snapshot is not begun again.
  recordSetup(deploy.id, current, 'run')
  updateDeploy(deploy.id, { image_id: image.id, ...columnsOf(snapshot) })
  return snapshot
}
