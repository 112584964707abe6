import { callersAccess, callersReach } from '../access/caller.ts'
import { recordOwn } from '../audit/recording.ts'
import { useDatabase } from '../context.ts'
import { announceDeploy, announceService } from '../changes.ts'
import { loadEnvironment } from '../environments/store.ts'
import { AppError } from '../errors.ts'
import { isId, newId } from '../ids.ts'
import { assertUnfenced } from '../restore/fence.ts'
import { move, tryMove } from '../state-machine.ts'
import { recordServiceEvent } from '../service-events/store.ts'
import { getService, type ServiceRow } from '../services/store.ts'
import type { DeploySource, DeployTrigger } from './schema.ts'
import { queuedSetup } from './setup.ts'
import { deployMachine } from './states.ts'
import {
  deploysInProgress,
  getDeploy,
  insertDeploy,
  listDeploys,
  newestArchive,
  type DeployFacts,
  type DeployRow,
} from './store.ts'

/** What a new deploy from source can choose in addition to the service's settings. */
export interface SourceChoice {
  commit?: string
  /** The branch that contains the commit, if the service has no branch set. */
  branch?: string
  clearCache?: boolean
  /** An image of the configured repository path with another tag or digest. */
  image?: string
}

/** What to do when a deploy's image or site is no longer kept. */
const HOW_TO_REDEPLOY: Record<DeploySource['kind'], string> = {
  git: 'deploy its commit again',
  image: 'deploy its image again',
  archive: 'upload its archive again',
}

/** The deploy with this id. Throws `not_found`. */
export function findDeploy(id: string): DeployRow {
  const found = isId('deploy', id) ? getDeploy(id) : undefined
  const reach = callersReach()
  if (!found || (reach && !reach.service(found.service_id)))
    throw new AppError('not_found', `there is no deploy ${id}`)
  return found
}

/**
 * Queues a deploy of the configured source, superseding queued source deploys and restarts; with the overlap policy
 * `override`, also such a deploy in progress.
 * Throws `invalid_request` without a source, `conflict` when the service is suspended or being deleted.
 */
export function queueSourceDeploy(
  service: ServiceRow,
  trigger: DeployTrigger,
  choice: SourceChoice = {},
): DeployRow {
  const source = sourceOf(service, choice)
  const archive = source.kind === 'archive' ? newestArchive(service.id) : null
  if (source.kind === 'archive' && archive === null) {
    throw new AppError(
      'invalid_request',
      `service ${service.name} has no source: set repo_url or image, or upload an archive`,
    )
  }
  return queue(service, trigger, () => ({
    source,
    repo_credentials: source.kind === 'git' ? service.repo_credentials : null,
    archive_id: archive,
    clear_cache: choice.clearCache ? 1 : 0,
    // Who may only deploy must not choose code that nobody has put on the branch.
    is_confined: callersAccess()?.mode === 'deploy' ? 1 : 0,
    image: source.kind === 'image' ? (choice.image ?? service.image) : null,
    ...queuedSetup(service),
  }))
}

/** Queues the deploy of an archive that was received under the deploy's id. */
export function queueUpload(service: ServiceRow, deployId: string, clearCache: boolean): DeployRow {
  assertUploadable(service)
  return queue(
    service,
    'upload',
    () => ({
      source: sourceOf(service, {}),
      archive_id: deployId,
      clear_cache: clearCache ? 1 : 0,
      ...queuedSetup(service),
    }),
    deployId,
  )
}

/** Throws `conflict` if a service's source is a repository or an image, or if it accepts no deploys now. */
export function assertUploadable(service: ServiceRow): void {
  assertDeployable(service)
  if (service.repo_url !== null || service.image !== null) {
    throw new AppError(
      'conflict',
      `service ${service.name} deploys from a repository or an image: clear that setting before uploading archives`,
    )
  }
}

/** Queues a restart: a deploy of the image that is live when it starts. Throws `conflict` when none is. */
export function queueRestart(service: ServiceRow): DeployRow {
  const live = service.live_deploy_id === null ? undefined : getDeploy(service.live_deploy_id)
  if (!live) throw new AppError('conflict', `service ${service.name} was never live: deploy it first`)
  return queue(service, 'restart', () => ({
    source: JSON.parse(live.source) as DeploySource,
    commit_sha: live.commit_sha,
    commit_message: live.commit_message,
    commit_author: live.commit_author,
    image: live.image,
    image_digest: live.image_digest,
  }))
}

/**
 * Queues a rollback to an earlier deploy's image and snapshot. Throws `not_found` for a deploy of another service,
 * `conflict` for one that never was live or whose image is gone.
 */
export function queueRollback(service: ServiceRow, deployId: string): DeployRow {
  const target = findDeploy(deployId)
  if (target.service_id !== service.id)
    throw new AppError('not_found', `service ${service.name} has no deploy ${deployId}`)
  if (!target.was_live)
    throw new AppError('conflict', `${deployId} never was live: there is nothing to roll back to`)
  const source = JSON.parse(target.source) as DeploySource
  const isKept = target.site_id !== null || (target.image_id !== null && target.snapshot !== null)
  if (!isKept)
    throw new AppError('conflict', `what ${deployId} ran is no longer kept: ${HOW_TO_REDEPLOY[source.kind]}`)
  return queue(service, 'rollback', () => ({
    source,
    rollback_of: target.id,
    commit_sha: target.commit_sha,
    commit_message: target.commit_message,
    commit_author: target.commit_author,
    image: target.image,
    image_id: target.image_id,
    image_digest: target.image_digest,
    site_id: target.site_id,
    port: target.port,
    snapshot: target.snapshot,
    setup: target.setup,
    setup_secrets: target.setup_secrets,
  }))
}

/**
 * Cancels a queued or running deploy; canceling a canceled one changes nothing. Throws `conflict` for one that is finished,
 * which includes that the routes have switched to its instances.
 */
export function cancelDeploy(deploy: DeployRow, reason: string | null = null): DeployRow {
  if (deploy.status === 'canceled') return deploy
  if (!cancel(deploy, reason)) {
    throw new AppError(
      'conflict',
      `${deploy.id} is ${getDeploy(deploy.id)?.status ?? 'gone'}: only a queued or running deploy can be canceled`,
    )
  }
  announceDeploy(deploy.id, deploy.service_id)
  announceService(deploy.service_id)
  return getDeploy(deploy.id)!
}

/**
 * Cancels all deploys in progress of a service, as suspending and deleting do. Returns their ids: the caller reports the
 * changes after its transaction.
 */
export function cancelDeploysOf(serviceId: string, reason: string): string[] {
  return deploysInProgress(serviceId)
    .filter((deploy) => cancel(deploy, reason))
    .map(({ id }) => id)
}

/** Marks a deploy as canceled, with its place in the timeline. Returns false if it has finished. */
function cancel({ id, service_id, trigger, rollback_of }: DeployRow, reason: string | null): boolean {
  return useDatabase().transaction(() => {
    if (!tryMove(deployMachine, id, 'canceled', { finished_at: Date.now(), error: reason })) return false
    recordServiceEvent(service_id, 'deploy.canceled', {
      deployId: id,
      details: { trigger, ...(rollback_of && { rollback_of }), ...(reason && { reason }) },
    })
    return true
  })
}

/**
 * Makes a deploy live, in one transaction with what `alongside` records: the previous live deploy is deactivated and the
 * service points to the new one.
 */
export function makeLive(deploy: DeployRow, alongside: () => void = () => {}): void {
  const now = Date.now()
  const former = useDatabase().transaction(() => {
    alongside()
    const service = getService(deploy.service_id)
    const formerId = service?.live_deploy_id ?? null
    if (formerId !== null) tryMove(deployMachine, formerId, 'deactivated', { replaced_at: now })
    move(deployMachine, deploy.id, 'live', { was_live: 1, finished_at: now })
    useDatabase().run(
      'UPDATE services SET live_deploy_id = ?, generation = generation + 1 WHERE id = ?',
      deploy.id,
      deploy.service_id,
    )
    return formerId
  })
  if (former !== null) announceDeploy(former, deploy.service_id)
  announceDeploy(deploy.id, deploy.service_id)
  announceService(deploy.service_id)
}

/** The deploys of a service, newest first. */
export function deploysOf(service: ServiceRow, limit: number): DeployFacts[] {
  return listDeploys(service.id, limit)
}

function sourceOf(service: ServiceRow, choice: SourceChoice): DeploySource {
  const none = { repo_url: null, branch: null, commit: null }
  if (service.repo_url !== null) {
    const branch = service.branch ?? choice.branch ?? null
    return { kind: 'git', repo_url: service.repo_url, branch, commit: choice.commit ?? null }
  }
  if (choice.commit !== undefined) {
    throw new AppError('invalid_request', `commit: service ${service.name} has no repository`)
  }
  return service.image === null ? { kind: 'archive', ...none } : { kind: 'image', ...none }
}

function assertDeployable(service: ServiceRow): void {
  assertUnfenced()
  if (service.deleting) throw new AppError('conflict', `service ${service.name} is being deleted`)
  if (service.suspended)
    throw new AppError('conflict', `service ${service.name} is suspended: resume it first`)
}

type Columns = Omit<Parameters<typeof insertDeploy>[0], 'id' | 'service_id' | 'trigger'>

function queue(
  service: ServiceRow,
  trigger: DeployTrigger,
  columns: () => Columns,
  id = newId('deploy'),
): DeployRow {
  assertDeployable(service)
  const database = useDatabase()
  const superseded = database.transaction(() => {
    insertDeploy({ id, service_id: service.id, trigger, ...columns() })
    const environment = loadEnvironment(service.environment_id).name
    recordOwn(database, 'deploy.created', { kind: 'deploy', id, name: service.name, environment })
    return supersede(service, id, trigger)
  })
  for (const older of superseded) announceDeploy(older, service.id)
  announceDeploy(id, service.id, 'created')
  return getDeploy(id)!
}

/**
 * Cancels deploys that the new one makes pointless: for a restart only restarts, for a rollback all, for a source deploy all
 * but rollbacks. Those are queued ones; if the service's overlap policy is `override`, a source deploy also cancels one that
 * builds or rolls out.
 */
function supersede(service: ServiceRow, id: string, trigger: DeployTrigger): string[] {
  const isOfSource = trigger !== 'rollback' && trigger !== 'restart'
  const overrides = isOfSource && service.overlap_policy === 'override'
  const isPointless = (older: DeployRow) =>
    trigger === 'rollback' || (isOfSource ? older.trigger !== 'rollback' : older.trigger === 'restart')
  return deploysInProgress(service.id)
    .filter((older) => older.id !== id && (overrides || older.status === 'queued') && isPointless(older))
    .filter((older) => cancel(older, `superseded by ${id}`))
    .map((older) => older.id)
}
