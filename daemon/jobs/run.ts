import { useContext, useDatabase } from '#server/context.ts'
import { getDeploy } from '#server/deploys/store.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { jobMaterial, announceJob, type JobMaterial } from '#server/jobs/operations.ts'
import { jobMachine, type JobStatus } from '#server/jobs/states.ts'
import {
  getJob,
  jobStatus,
  openJobSnapshot,
  placeJob,
  sealJobSnapshot,
  type JobRow,
} from '#server/jobs/store.ts'
import { ledgerOn } from '#server/ledger.ts'
import { logger } from '#server/log.ts'
import { openLog, type LogWriter } from '#server/logs/files.ts'
import { ownNodeId } from '#server/nodes/store.ts'
import { getService, type ServiceRow } from '#server/services/store.ts'
import { tryMove } from '#server/state-machine.ts'
import { isKnownWithin, isOfAbsence, untilPresent } from '../engine-absence.ts'
import { prepareLaunch } from '../instances/launch.ts'
import { isLost } from '../nodes/presence.ts'
import type { AbortReason } from '../work/abort-reason.ts'
import type { World } from '../world.ts'
import { placeOfRun } from './place.ts'
import {
  ENDED_WITH_ENGINE,
  NodeLost,
  NotRecorded,
  runToEnd,
  UNREACHED_MS,
  type RunEnd,
} from './run-to-end.ts'

const serverLog = logger('jobs')

/** A run that takes longer is assumed to hang. */
const LONGEST_RUN_MS = 12 * 3_600_000
/** A job's error is a message for people, not a log. */
const MAX_ERROR_CHARACTERS = 8 * 1024

/**
 * Runs one job from its current status to its end and records the result; an engine that goes away meanwhile is waited for.
 * Throws if the result cannot be written.
 */
export async function runJob(world: World, id: string, signal: AbortSignal): Promise<void> {
  const log = openLog(id)
  try {
    // The way to its node may not be there yet after a start of the server.
    await untilOtherAnswers(world, id, signal)
    while (!(await runUntilAbsence(world, id, log, signal))) {
      log.system('the container engine stopped answering; waiting until it is back')
      await untilOtherAnswers(world, id, signal)
      await untilPresent(world.engine, signal)
    }
  } catch (error) {
    settleFailure(id, error, log, signal)
  } finally {
    await log
      .close()
      .catch((error: unknown) =>
        serverLog.error('a job log could not be written', { id, error: messageOf(error) }),
      )
  }
}

/** Waits for the node of a job, unless that is the own one. Throws NodeLost if it takes too long. */
async function untilOtherAnswers(world: World, id: string, signal: AbortSignal): Promise<void> {
  const nodeId = getJob(id)?.node_id ?? ownNodeId()
  if (nodeId === ownNodeId() || (await isKnownWithin(world, nodeId, UNREACHED_MS, signal))) return
  throw new NodeLost(nodeId)
}

/** Runs or continues a job; false if the engine went away before its program was started or found. */
async function runUntilAbsence(
  world: World,
  id: string,
  log: LogWriter,
  signal: AbortSignal,
): Promise<boolean> {
  const job = getJob(id)
  const service = job && getService(job.service_id)
  if (!job || !service) return true
  try {
    const take = job.status === 'running' ? resume : begin
    const material = await take(world, job, service, log)
    if (!material) return true
    const { deploy, snapshot, nodeId } = material
    const command = job.own_command ? snapshot.start_command : job.command
    const timeoutMs = Math.max(1, LONGEST_RUN_MS - (Date.now() - (getJob(id)?.started_at ?? Date.now())))
    const launch = () => prepareLaunch(world, service, deploy, snapshot, nodeId)
    const recordEnd = (end: RunEnd) => settle(job, end, memoryOf(material), log)
    const run = { logId: id, nodeId, launch, name: id, kind: 'job', command, timeoutMs, recordEnd } as const
    await runToEnd(world, run, log, signal)
    return true
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof NotRecorded || error instanceof NodeLost) throw error
    if (!(await isOfAbsence(world.engine, error))) throw error
    return false
  }
}

/** What a job runs with, and where. */
type Placed = JobMaterial & { nodeId: string }

/** Takes a job from `pending` to `running`; null if it was canceled meanwhile. */
async function begin(world: World, job: JobRow, service: ServiceRow, log: LogWriter): Promise<Placed | null> {
  const kept = openJobSnapshot(job)
  const deploy = getDeploy(job.deploy_id)
  const material = kept && deploy ? { deploy, snapshot: kept } : jobMaterial(service)
  const command = job.own_command ? material.snapshot.start_command : job.command
  const nodeId = await placeOfRun(world, service, material.snapshot.image_id)
  const columns = {
    started_at: Date.now(),
    node_id: nodeId,
    command,
    deploy_id: material.deploy.id,
    image: material.deploy.image,
    snapshot: sealJobSnapshot(material.snapshot),
  }
  const isMoved = useDatabase().transaction(() => {
    const moved = tryMove(jobMachine, job.id, 'running', columns)
    // In the same transaction: as long as the ledger has no engine id for its container, its program has not run.
    if (moved) ledgerOn(nodeId).record('container', job.id)
    return moved
  })
  if (!isMoved) return null
  announceJob(job.id, job.service_id)
  log.system(`running ${command?.split('\n')[0] ?? "the image's own command"}`)
  return { ...material, nodeId }
}

/**
 * Continues a job that was running when the server stopped: its container is followed, or created if it was not yet. Throws
 * if the container is gone.
 */
async function resume(world: World, job: JobRow, service: ServiceRow, log: LogWriter): Promise<Placed> {
  const deploy = getDeploy(job.deploy_id)
  const snapshot = openJobSnapshot(job)
  let nodeId = job.node_id ?? ownNodeId()
  const isMade = ledgerOn(nodeId).find('container', job.id)?.engine_id !== null
  if (isLost(nodeId)) {
    if (isMade || !snapshot) throw new NodeLost(nodeId)
    nodeId = await placeOfRun(world, service, snapshot.image_id)
    placeJob(job.id, nodeId)
    ledgerOn(nodeId).record('container', job.id)
  }
  if (
    !deploy ||
    !snapshot ||
    (isMade && (await world.engineOf(nodeId).containers.inspect(job.id)) === null)
  ) {
    throw new AppError(
      'runtime_error',
      'the server stopped while the job was running, and its container is gone: run it again',
    )
  }
  log.system('the job was interrupted, for example by a restart of the server; continuing')
  return { deploy, snapshot, nodeId }
}

async function settle(job: JobRow, end: RunEnd, memoryMb: number, log: LogWriter): Promise<void> {
  const { exitCode, oomKilled, timedOut, engineWasAway, lastLines } = end
  const hours = LONGEST_RUN_MS / 3_600_000
  const outcome = timedOut
    ? `killed after ${hours} hours, the longest that a job may run`
    : oomKilled
      ? `ran out of memory: its limit is ${memoryMb} MiB (memory_limit_mb); exit code ${exitCode}`
      : `ended with exit code ${exitCode}${exitCode !== 0 && engineWasAway ? `${ENDED_WITH_ENGINE}: run it again` : ''}`
  log.system(outcome)
  await log.flushed()
  if (exitCode === 0) finish(job.id, 'succeeded', { exit_code: 0 })
  else finish(job.id, 'failed', { exit_code: exitCode, error: shortened([outcome, ...lastLines].join('\n')) })
}

function settleFailure(id: string, error: unknown, log: LogWriter, signal: AbortSignal): void {
  if (signal.reason === ('stopping' satisfies AbortReason)) return
  const job = getJob(id)
  if (!job) return
  if (job.status === 'canceled') {
    log.system(job.error === null ? 'canceled' : `canceled: ${job.error}`)
    return
  }
  // Not the end of the job: what could not be recorded, for example on a full disk, is tried again.
  if (error instanceof NotRecorded || (error instanceof AppError && error.code === 'database_error'))
    throw error
  const message = shortened(messageOf(error))
  if (!(error instanceof AppError))
    serverLog.error('a job failed', { id, error: message, stack: (error as Error).stack ?? '' })
  log.system(`failed: ${message.split('\n')[0]}`)
  finish(id, 'failed', { error: message })
}

function finish(
  id: string,
  to: Extract<JobStatus, 'succeeded' | 'failed'>,
  columns: { exit_code?: number | null; error?: string },
): void {
  // Its variables are not needed any more.
  tryMove(jobMachine, id, to, { ...columns, finished_at: Date.now(), snapshot: null })
  serverLog.info('job ended', { id, status: jobStatus(id) ?? 'removed' })
}

function memoryOf({ snapshot }: JobMaterial): number {
  return snapshot.memory_limit_mb || useContext().options.defaultMemoryMb
}

function shortened(text: string): string {
  return text.slice(0, MAX_ERROR_CHARACTERS)
}
