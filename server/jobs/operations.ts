import { callersReach } from '../access/caller.ts'
import { announce, type Change } from '../changes.ts'
import { useDatabase } from '../context.ts'
import { getDeploy, openSnapshot, type DeployRow, type Snapshot } from '../deploys/store.ts'
import { AppError } from '../errors.ts'
import { assertUnfenced } from '../restore/fence.ts'
import { isId, newId } from '../ids.ts'
import { filesOf } from '../secret-files/effective.ts'
import { getService, type ServiceRow } from '../services/store.ts'
import { tryMove } from '../state-machine.ts'
import { resolveEnvironment } from '../variables/environment.ts'
import type { JobInput, JobTrigger } from './schema.ts'
import { jobMachine } from './states.ts'
import {
  getJob,
  insertJob,
  jobsInProgress,
  jobStatus,
  listJobs,
  sealJobSnapshot,
  type JobFacts,
  type JobRow,
} from './store.ts'

/** How many one-off jobs of a service may wait or run. A client that wants more is in a loop. */
const MAX_IN_PROGRESS = 500

/** What a job runs with, and the live deploy that this comes from. */
export interface JobMaterial {
  deploy: DeployRow
  snapshot: Snapshot
}

/** The job with this id. Throws `not_found`. */
export function findJob(id: string): JobRow {
  const found = isId('job', id) ? getJob(id) : undefined
  const reach = callersReach()
  if (!found || (reach && !reach.service(found.service_id)))
    throw new AppError('not_found', `there is no job ${id}`)
  return found
}

/** The jobs of a service, newest first. */
export function jobsOf(service: ServiceRow, limit: number): JobFacts[] {
  return listJobs(service.id, limit)
}

/**
 * Returns what a job that starts now runs with: image, command and limits of the live deploy, as for every container of the
 * service, and the current variables and secret files. Throws `conflict` when there is no live image, or when a variable's
 * reference cannot be resolved.
 */
export function jobMaterial(service: ServiceRow): JobMaterial {
  const deploy = service.live_deploy_id === null ? undefined : getDeploy(service.live_deploy_id)
  if (deploy && deploy.site_id !== null)
    throw new AppError('conflict', `service ${service.name} is served from files and has no program to run`)
  const live = deploy && openSnapshot(deploy)
  if (!deploy || !live)
    throw new AppError('conflict', `service ${service.name} has no live image: deploy it first`)
  const variables = Object.fromEntries(resolveEnvironment(service))
  const env = live.port === null ? variables : { ...variables, PORT: String(live.port) }
  return { deploy, snapshot: { ...live, env, secret_files: filesOf(service) } }
}

/**
 * Queues a run that was asked for: a one-off job with a command of its own and the current variables, or the cron job's own
 * command. Throws `invalid_request` when there is no command, `conflict` when the service takes no jobs now or a run of its
 * own command is already waiting.
 */
export function requestJob(service: ServiceRow, { command }: JobInput): JobRow {
  assertUnfenced()
  if (command === undefined && service.type !== 'cron_job') {
    throw new AppError(
      'invalid_request',
      `command: service ${service.name} is not a cron job and has no command of its own: give one`,
    )
  }
  assertTakesJobs(service)
  const material = jobMaterial(service)
  const job = useDatabase().transaction(() => {
    const others = jobsInProgress(service.id)
    if (command === undefined && others.some(isWaitingOwnRun))
      throw new AppError('conflict', `a run of ${service.name} is already waiting: cancel it, or wait for it`)
    if (command !== undefined && others.length >= MAX_IN_PROGRESS)
      throw new AppError(
        'conflict',
        `${MAX_IN_PROGRESS} jobs of ${service.name} are already waiting or running: cancel some, or wait`,
      )
    return insert(service, 'manual', material, command)
  })
  announceJob(job.id, service.id, 'created')
  return job
}

/**
 * Queues the run of a cron job that has become due, unless one is already waiting. Returns whether it did; the caller
 * announces the change after its transaction.
 */
export function insertScheduledJob(service: ServiceRow): JobRow | null {
  const deploy = service.live_deploy_id === null ? undefined : getDeploy(service.live_deploy_id)
  if (!deploy || jobsInProgress(service.id).some(isWaitingOwnRun)) return null
  return insert(service, 'schedule', { deploy, snapshot: openSnapshot(deploy)! }, undefined)
}

/** Cancels a job that waits or runs. Does nothing to a canceled one. Throws `conflict` for a job that has ended. */
export function cancelJob(job: JobRow): JobRow {
  if (job.status === 'canceled') return job
  if (!cancel(job.id, null)) {
    throw new AppError(
      'conflict',
      `${job.id} is ${jobStatus(job.id) ?? 'gone'}: only a pending or running job can be canceled`,
    )
  }
  announceJob(job.id, job.service_id)
  return getJob(job.id)!
}

/**
 * Cancels every waiting or running job of a service, because it is deleted or suspended. Returns the canceled jobs; the
 * caller announces them (`announceJob`) after its transaction.
 */
export function cancelJobsOf(serviceId: string, reason: string): string[] {
  return jobsInProgress(serviceId)
    .map(({ id }) => id)
    .filter((id) => cancel(id, reason))
}

/** Announces a change of a job, and of its service: the state of a cron job follows from its runs. */
export function announceJob(id: string, serviceId: string, action: Change['action'] = 'updated'): void {
  announce({ kind: 'job', id, service_id: serviceId, action })
  const isCron = action === 'updated' && getService(serviceId)?.type === 'cron_job'
  if (isCron) announce({ kind: 'service', id: serviceId, service_id: serviceId, action })
}

function assertTakesJobs(service: ServiceRow): void {
  if (service.deleting) throw new AppError('conflict', `service ${service.name} is being deleted`)
  if (service.suspended)
    throw new AppError('conflict', `service ${service.name} is suspended: resume it first`)
}

function isWaitingOwnRun({ own_command, status }: JobFacts): boolean {
  return own_command === 1 && status === 'pending'
}

function insert(
  service: ServiceRow,
  trigger: JobTrigger,
  { deploy, snapshot }: JobMaterial,
  command: string | undefined,
): JobRow {
  const id = newId('job')
  insertJob({
    id,
    service_id: service.id,
    trigger,
    command: command ?? snapshot.start_command,
    own_command: command === undefined ? 1 : 0,
    deploy_id: deploy.id,
    image: deploy.image,
    snapshot: command === undefined ? null : sealJobSnapshot(snapshot),
  })
  return getJob(id)!
}

function cancel(id: string, reason: string | null): boolean {
  return tryMove(jobMachine, id, 'canceled', { finished_at: Date.now(), error: reason, snapshot: null })
}
