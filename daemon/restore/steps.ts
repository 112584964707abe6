import { newestBackup } from '#server/backups/newest.ts'
import { getRestoreOrUpgrade } from '#server/datastores/restores-and-upgrades-store.ts'
import { restoreBackup } from '#server/datastores/restores-and-upgrades.ts'
import { getDatastore } from '#server/datastores/store.ts'
import { getDiskRestore, isDiskRestoring } from '#server/disks/restores-store.ts'
import { restoreDisk } from '#server/disks/restores.ts'
import { queueSourceDeploy } from '#server/deploys/operations.ts'
import type { DeploySource } from '#server/deploys/schema.ts'
import { getDeploy, type DeployRow } from '#server/deploys/store.ts'
import { IN_PROGRESS } from '#server/deploys/states.ts'
import { updateStep, type StepRow } from '#server/restore/store.ts'
import { getService, type ServiceRow } from '#server/services/store.ts'
import { viewService } from '#server/services/view.ts'

/** How long something that the engine still has may take to be up again. */
const UP_WITHIN_MS = 3 * 60_000

/** Takes a step further. It may be called again at any moment: what it began is in its record. */
export function advance(step: StepRow, waitedMs: number): void {
  if (step.resource === 'datastore')
    return step.action === 'adopt' ? awaitDatastore(step, waitedMs) : restoreDatastore(step)
  if (step.resource === 'disk' && step.action === 'restore') return bringDiskBack(step)
  if (step.resource === 'service')
    return step.action === 'adopt' ? awaitService(step, waitedMs) : deployService(step)
  updateStep(step, { status: 'done', error: step.error })
}

function awaitDatastore(step: StepRow, waitedMs: number): void {
  const row = getDatastore(step.id)
  if (!row || row.status === 'available') return updateStep(step, { status: 'done' })
  if (waitedMs > UP_WITHIN_MS)
    updateStep(step, { status: 'failed', error: row.error ?? `it is ${row.status}` })
}

function restoreDatastore(step: StepRow): void {
  const row = getDatastore(step.id)
  if (!row) return updateStep(step, { status: 'done' })
  if (step.work_id === null) {
    const backup = newestBackup(row.id)
    if (!backup) return updateStep(step, { status: 'failed', error: 'there is no backup of it' })
    restoreBackup(row, backup)
    // Another volume in its place tells that the restore has succeeded.
    return updateStep(step, { status: 'running', work_id: row.volume })
  }
  if (getRestoreOrUpgrade(row.id)) return
  if (row.volume === step.work_id)
    return updateStep(step, { status: 'failed', error: row.error ?? 'its backup could not be restored' })
  updateStep(step, { status: 'done' })
}

function bringDiskBack(step: StepRow): void {
  const service = getService(step.id)
  if (!service) return updateStep(step, { status: 'done' })
  if (step.work_id === null) {
    // One disk of a service after the other.
    if (isDiskRestoring(service.id)) return
    const backup = newestBackup(service.id, step.disk)
    if (!backup) return updateStep(step, { status: 'failed', error: 'there is no backup of it' })
    restoreDisk(service, backup)
    return updateStep(step, { status: 'running', work_id: backup.id })
  }
  const restore = getDiskRestore(service.id)
  if (restore?.status === 'running') return
  if (restore?.status === 'succeeded') return updateStep(step, { status: 'done' })
  updateStep(step, { status: 'failed', error: restore?.error ?? 'its backup could not be restored' })
}

function awaitService(step: StepRow, waitedMs: number): void {
  const service = getService(step.id)
  const status = service ? viewService(service).state : 'gone'
  if (status !== 'deploying' && status !== 'down') return updateStep(step, { status: 'done' })
  if (waitedMs > UP_WITHIN_MS)
    updateStep(step, { status: 'failed', error: `it is ${status}: see its events and its log` })
}

function deployService(step: StepRow): void {
  const service = getService(step.id)
  if (!service) return updateStep(step, { status: 'done' })
  const former = getDeploy(service.live_deploy_id ?? '')
  if (step.work_id === null) {
    const { id } = queueSourceDeploy(service, 'restore', former ? sameSource(service, former) : {})
    return updateStep(step, { status: 'running', work_id: id })
  }
  const deploy = getDeploy(step.work_id)
  if (deploy && IN_PROGRESS.includes(deploy.status)) return
  if (deploy?.status === 'live' || deploy?.status === 'deactivated')
    return updateStep(step, { status: 'done', error: step.error })
  if (former?.image_digest && deploy?.image === former.image_digest) return deployReference(step, service)
  updateStep(step, {
    status: 'failed',
    error: deploy?.error ?? `its deploy ${step.work_id} was ${deploy?.status ?? 'removed'}`,
  })
}

/** Deploys an image by its name, since it is no longer found by its digest. */
function deployReference(step: StepRow, service: ServiceRow): void {
  const { id } = queueSourceDeploy(service, 'restore')
  const error = `its image is not found by its digest any more: ${service.image} was deployed, which may be another one`
  updateStep(step, { status: 'running', work_id: id, error })
}

/** The source from which a deploy is made again: its commit, or its image by digest. */
function sameSource(service: ServiceRow, { source, commit_sha, image, image_digest }: DeployRow) {
  const { kind, repo_url, branch } = JSON.parse(source) as DeploySource
  if (kind === 'git' && repo_url === service.repo_url && commit_sha !== null)
    return { commit: commit_sha, ...(branch !== null && { branch }) }
  if (kind === 'image' && service.image !== null && image !== null) return { image: image_digest ?? image }
  return {}
}
