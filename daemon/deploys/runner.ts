import { tellDeploy, tellService } from '#server/changes.ts'
import { useContext } from '#server/context.ts'
import { advance } from '#server/deploys/progress.ts'
import type { DeploySource } from '#server/deploys/schema.ts'
import { restoreSnapshot, takeSnapshot, type ImageFacts } from '#server/deploys/snapshot.ts'
import { deployMachine } from '#server/deploys/states.ts'
import {
  getDeploy,
  openSnapshot,
  sealSnapshot,
  updateDeploy,
  type DeployRow,
  type Snapshot,
} from '#server/deploys/store.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { openLog, type LogWriter } from '#server/log-files.ts'
import { logger } from '#server/log.ts'
import { tryMove } from '#server/machine.ts'
import { getService, type ServiceRow } from '#server/services/store.ts'
import type { AbortReason } from '../abort-reason.ts'
import { buildImage } from '../builds/build.ts'
import { pullImage } from '../builds/pull.ts'
import { imageTag } from '../builds/tags.ts'
import { prepareLaunch, type Launch } from '../instances/launch.ts'
import { removeInstancesOf, rollOut } from '../rollouts/rollout.ts'
import { stopFirst } from '../rollouts/stop-first.ts'
import { deploySite } from '../sites/deploy.ts'
import type { World } from '../world.ts'
import { outlastAbsences } from './absences.ts'
import { isOwnFailure } from './own-failure.ts'
import { preDeploy } from './pre-deploy.ts'

const serverLog = logger('deploys')

/** A deploy's error is a text that people read, not a log. */
const MAX_ERROR_CHARACTERS = 8 * 1024

/** Whether a deploy makes an image, and so needs a build slot. */
export function needsBuild(deploy: DeployRow): boolean {
  return deploy.trigger !== 'restart' && deploy.rollback_of === null && sourceOf(deploy).kind !== 'image'
}

/** Carries one deploy from where it stands to an end. Never throws: how it ends is in its record. */
export async function runDeploy(world: World, id: string, signal: AbortSignal): Promise<void> {
  const log = openLog(id)
  try {
    if (getDeploy(id)!.status === 'deploying') log.system('the server was restarted; going on')
    const { buildTimeoutMs } = useContext().options
    await outlastAbsences(world.engine, buildTimeoutMs, log, signal, () => carryOn(world, id, log, signal))
  } catch (error) {
    await settleFailure(world, id, error, log, signal)
  } finally {
    await log
      .close()
      .catch((error: unknown) =>
        serverLog.error('a deploy log could not be written', { id, error: messageOf(error) }),
      )
    tellDeploy(id, getDeploy(id)?.service_id ?? '')
  }
}

/** Carries a deploy on from where it stands; each step finds what an earlier try of it has done. */
async function carryOn(world: World, id: string, log: LogWriter, signal: AbortSignal): Promise<void> {
  // A build has nothing that could be taken up.
  if (getDeploy(id)!.status === 'building') tryMove(deployMachine, id, 'queued')
  const deploy = getDeploy(id)!
  if (getService(deploy.service_id)!.type === 'static_site')
    return await deploySite(world, deploy, log, signal)
  const snapshot =
    deploy.status === 'deploying'
      ? await resume(world, deploy, log, signal)
      : await begin(world, deploy, log, signal)
  if (!snapshot) return
  const launch = launchOnce(world, deploy, snapshot)
  await preDeploy(world, getDeploy(id)!, launch, log, signal)
  await stopFirst(world, deploy, snapshot, log, signal)
  await rollOut(world, getDeploy(id)!, launch, log, signal)
}

/** What the containers of a deploy need, found out when the first asks for it. */
function launchOnce(world: World, deploy: DeployRow, snapshot: Snapshot): () => Promise<Launch> {
  let launch: Promise<Launch> | undefined
  return () =>
    (launch ??= prepareLaunch(world, getService(deploy.service_id)!, getDeploy(deploy.id)!, snapshot))
}

/** From `queued` to a snapshot; null when the deploy was canceled meanwhile. */
async function begin(
  world: World,
  deploy: DeployRow,
  log: LogWriter,
  signal: AbortSignal,
): Promise<Snapshot | null> {
  const service = getService(deploy.service_id)!
  if (needsBuild(deploy)) {
    if (!advance(deploy, 'building', { started_at: Date.now() })) return null
    const image = await buildImage(world, service, deploy, log, signal)
    if (!advance(deploy, 'deploying', { image_id: image.id, image: image.reference })) return null
    return keepSnapshot(deploy, takeSnapshot(getService(service.id) ?? service, image))
  }
  if (!advance(deploy, 'deploying', { started_at: Date.now() })) return null
  return prepareExisting(world, service, deploy, log, signal)
}

/** A deploy that was rolling out when the server ended or the engine went away. */
async function resume(
  world: World,
  deploy: DeployRow,
  log: LogWriter,
  signal: AbortSignal,
): Promise<Snapshot | null> {
  const service = getService(deploy.service_id)!
  const kept = deploy.rollback_of === null ? openSnapshot(deploy) : null
  if (kept) return kept
  if (!needsBuild(deploy)) return prepareExisting(world, service, deploy, log, signal)
  const image = deploy.image_id === null ? null : await world.engine.images.inspect(deploy.image_id)
  if (!image) throw new AppError('runtime_error', 'the built image is gone: deploy again')
  return keepSnapshot(deploy, takeSnapshot(service, image))
}

async function prepareExisting(
  world: World,
  service: ServiceRow,
  deploy: DeployRow,
  log: LogWriter,
  signal: AbortSignal,
): Promise<Snapshot> {
  if (deploy.rollback_of !== null) {
    const snapshot = openSnapshot(deploy)
    if (!snapshot || !(await world.engine.images.inspect(snapshot.image_id))) {
      throw new AppError(
        'conflict',
        `the image of ${deploy.rollback_of} is no longer there: deploy its commit again`,
      )
    }
    log.system(`rolling back to ${deploy.rollback_of}`)
    await world.engine.images.tag(snapshot.image_id, imageTag(service.id, deploy.id))
    return keepSnapshot(deploy, restoreSnapshot(snapshot, service))
  }
  const image =
    deploy.trigger === 'restart'
      ? await liveImage(world, service, deploy)
      : await pullImage(world, deploy, log, signal)
  // Each deploy keeps its image by a name of its own, so that the cleanup of one never takes another's.
  await world.engine.images.tag(image.id, imageTag(service.id, deploy.id))
  updateDeploy(deploy.id, { image_id: image.id })
  return keepSnapshot(deploy, takeSnapshot(getService(service.id) ?? service, image))
}

/** The image that is live when a restart starts, with the commit it was made from. */
async function liveImage(world: World, service: ServiceRow, deploy: DeployRow): Promise<ImageFacts> {
  const live = service.live_deploy_id === null ? undefined : getDeploy(service.live_deploy_id)
  const image = live?.image_id ? await world.engine.images.inspect(live.image_id) : null
  if (!live || !image) throw new AppError('conflict', 'the live image is no longer there: deploy again')
  updateDeploy(deploy.id, {
    commit_sha: live.commit_sha,
    commit_message: live.commit_message,
    image: live.image,
    source: live.source,
  })
  return image
}

function keepSnapshot(deploy: DeployRow, snapshot: Snapshot): Snapshot {
  updateDeploy(deploy.id, {
    snapshot: sealSnapshot(snapshot),
    port: snapshot.port,
    health_check_path: snapshot.health_check_path,
    ...(deploy.rollback_of === null ? {} : { image_id: snapshot.image_id }),
  })
  return snapshot
}

async function settleFailure(
  world: World,
  id: string,
  error: unknown,
  log: LogWriter,
  signal: AbortSignal,
): Promise<void> {
  const deploy = getDeploy(id)
  if (!deploy) return
  if (signal.aborted && signal.reason === ('stopping' satisfies AbortReason)) return
  if (deploy.status === 'canceled') {
    log.system(deploy.error === null ? 'canceled' : `canceled: ${deploy.error}`)
    tellFormer(deploy, log)
    await removeInstancesOf(world, deploy).catch(() => {})
    return
  }
  const message = messageOf(error).slice(0, MAX_ERROR_CHARACTERS)
  if (!(error instanceof AppError) && !isOwnFailure(error)) {
    serverLog.error('a deploy failed', { id, error: message, stack: (error as Error).stack ?? '' })
  }
  log.system(`failed: ${message.split('\n')[0]}`)
  tellFormer(deploy, log)
  const to = deploy.status === 'building' ? 'build_failed' : 'deploy_failed'
  if (tryMove(deployMachine, id, to, { error: message, finished_at: Date.now() }))
    tellService(deploy.service_id)
}

/** The supervisor starts what a rollout stopped first, once the deploy has ended. */
function tellFormer(deploy: DeployRow, log: LogWriter): void {
  const hasFormer = (getService(deploy.service_id)?.live_deploy_id ?? null) !== null
  if (deploy.stops_first && hasFormer) log.system('the former version is started again')
}

function sourceOf(deploy: DeployRow): DeploySource {
  return JSON.parse(deploy.source) as DeploySource
}
