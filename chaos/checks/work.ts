import type { Struck } from '../active-faults.ts'
import { Finding } from '../finding.ts'
import type { DeployRecord, JobRecord, Model, ServiceRecord } from '../model.ts'
import type { Rig } from '../rig.ts'
import { read } from './recorded.ts'

interface Run {
  id: string
  status: string
  error: string | null
  trigger: string
}

/** What may have ended a deploy or job whose program has no fault. */
const ENDS_WORK = ['disk full', 'container removed', 'container killed']
const KILLS = ['control plane killed', 'control plane killed', 'control plane killed twice']
const HAS_BEEN_CANCELED = /^(superseded by|the service was (suspended|deleted))/

/** Whether a failure is what the server promises: a build that two crashes in a row interrupted, or something missing. */
function isExcused(round: number, struck: readonly Struck[]): boolean {
  const since = struck.filter((fault) => fault.round >= round - 1)
  if (since.some(({ name }) => ENDS_WORK.includes(name))) return true
  const kills = since.filter(({ name }) => KILLS.includes(name)).length
  return kills >= 2 || since.some(({ name }) => name === 'control plane killed twice')
}

/**
 * Gives the deploys whose answer was lost the ids that they turned out to have, and forgets those that are not there. Called
 * after each round, so that a service has at most one of them.
 */
export async function learnDeploys(rig: Rig, model: Model): Promise<void> {
  for (const service of Object.values(model.services)) {
    if (!service.deploys.some(({ id }) => id === null)) continue
    const known = new Set(service.deploys.map(({ id }) => id))
    const runs = await read<Run[]>(rig, `/services/${service.id}/deploys?limit=500`)
    const found = runs.find(({ id }) => !known.has(id))
    const lost = service.deploys.find(({ id }) => id === null)!
    if (found) lost.id = found.id
    service.deploys = service.deploys.filter(({ id }) => id !== null)
  }
}

/** Checks that every acknowledged deploy and job is there and has ended well, and notes which deploys are live. */
export async function checkWork(rig: Rig, model: Model, struck: readonly Struck[]): Promise<string[]> {
  const failures: string[] = []
  for (const [place, service] of Object.entries(model.services)) {
    const runs = await read<Run[]>(rig, `/services/${service.id}/deploys?limit=500`)
    for (const deploy of service.deploys) {
      const run = runs.find(({ id }) => id === deploy.id)
      if (!run) throw new Finding(`deploy ${deploy.id} of ${place} was acknowledged and is not there`)
      if (!deploy.isJudged) failures.push(...checkDeploy(place, deploy, run, struck))
      deploy.isJudged = true
    }
    const known = new Set(service.deploys.map(({ id }) => id))
    const extra = runs.filter(({ id }) => !known.has(id))
    if (extra.length > 0)
      throw new Finding(`${place} has deploys that nobody asked for: ${JSON.stringify(extra)}`)
    noteLive(place, service, runs)
    for (const job of service.jobs) failures.push(...(await checkJob(rig, place, job, struck)))
  }
  return failures
}

function checkDeploy(
  place: string,
  deploy: DeployRecord,
  { id, status, error, trigger }: Run,
  struck: readonly Struck[],
): string[] {
  const what = `${trigger} deploy ${id} of ${place} is ${status}: ${error}`
  if (deploy.cancel === 'done' && status !== 'canceled')
    throw new Finding(`${what}, but its cancellation was acknowledged`)
  if (status === 'canceled' && deploy.cancel === 'no' && !HAS_BEEN_CANCELED.test(error ?? ''))
    throw new Finding(`${what}, and nobody asked for that`)
  if (!status.endsWith('_failed')) return []
  if (!isExcused(deploy.round, struck)) throw new Finding(`${what}, and nothing happened that explains it`)
  return [`deploy ${status}: ${error}`]
}

async function checkJob(
  rig: Rig,
  place: string,
  job: JobRecord,
  struck: readonly Struck[],
): Promise<string[]> {
  const { id, round, mayBeCanceled, isJudged } = job
  const { status, error } = await read<Run>(rig, `/jobs/${id}`)
  if (isJudged) return []
  job.isJudged = true
  const what = `job ${id} of ${place} is ${status}: ${error}`
  if (status === 'canceled' && !mayBeCanceled) throw new Finding(`${what}, and nobody asked for that`)
  if (status !== 'failed') return []
  if (!isExcused(round, struck)) throw new Finding(`${what}, and nothing happened that explains it`)
  return [`job failed: ${error}`]
}

/** The live deploy is the newest of those that went live. */
function noteLive(place: string, service: ServiceRecord, runs: readonly Run[]): void {
  const went = runs.find(({ status }) => status === 'live' || status === 'deactivated')
  if (went && went.status !== 'live')
    throw new Finding(`${place}: ${went.id} is newer than what is live, and deactivated`)
  const live = service.deploys.find(({ id }) => id === went?.id)
  if (live) live.wasLive = true
}
