import { announceDeploy } from '#server/changes.ts'
import { useContext } from '#server/context.ts'
import { deployMachine } from '#server/deploys/states.ts'
import { getDeploy, updateDeploy, type DeployRow, type Snapshot } from '#server/deploys/store.ts'
import { AppError, explainFullDisk, messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { openLog, storedSteps, type LogWriter } from '#server/logs/files.ts'
import { getService } from '#server/services/store.ts'
import { tryMove } from '#server/state-machine.ts'
import { prepareLaunch, type Launch } from '../instances/launch.ts'
import { NotRecorded } from '../jobs/run-to-end.ts'
import { removeInstancesOf, rollOut, type LaunchOn } from '../rollouts/rollout.ts'
import { stopFirst } from '../rollouts/stop-first.ts'
import { switchToSite } from '../sites/deploy.ts'
import type { AbortReason } from '../work/abort-reason.ts'
import type { World } from '../world.ts'
import { outlastAbsences } from './absences.ts'
import { begin, resume } from './begin.ts'
import { isOwnFailure, recordFailure, logRestartOfPrevious } from './failure.ts'
import { preDeploy } from './pre-deploy.ts'
import { untilNodesAreKnown } from './unreachable.ts'

const serverLog = logger('deploys')

/** Runs one deploy from its current status to its end and records the result. Throws if that cannot be written. */
export async function runDeploy(world: World, id: string, signal: AbortSignal): Promise<void> {
  const earlier = await storedSteps(id, signal)
  const log = openLog(id)
  try {
    log.steps.recall(earlier)
    if (getDeploy(id)!.status === 'deploying')
      log.system('the deploy was interrupted, for example by a restart of the server; continuing')
    const { buildTimeoutMs } = useContext().options
    await outlastAbsences(world.engine, buildTimeoutMs, log, signal, async () => {
      await untilNodesAreKnown(world, id, buildTimeoutMs, log, signal)
      await continueDeploy(world, id, log, signal)
    })
    log.steps.end(getDeploy(id)?.status === 'canceled' ? 'canceled' : 'succeeded')
  } catch (error) {
    await settleFailure(world, id, error, log, signal)
  } finally {
    const report = (error: unknown): void =>
      serverLog.error('a deploy log could not be written', { id, error: messageOf(error) })
    try {
      updateDeploy(id, { steps: JSON.stringify(log.steps.all) })
    } catch (error) {
      report(error)
    }
    await log.close().catch(report)
  }
  // Not if the result could not be recorded: the event would start it again at once.
  announceDeploy(id, getDeploy(id)?.service_id ?? '')
}

/** Continues a deploy from its current status; each step finds what an earlier try has done. */
async function continueDeploy(world: World, id: string, log: LogWriter, signal: AbortSignal): Promise<void> {
  // What an earlier try has not ended begins again.
  log.steps.end('canceled')
  // A build cannot be continued.
  if (getDeploy(id)!.status === 'building') tryMove(deployMachine, id, 'queued')
  const deploy = getDeploy(id)!
  const take = deploy.status === 'deploying' ? resume : begin
  const deployable = await take(world, deploy, log, signal)
  if (deployable === null) return
  if (deployable === 'site') return await switchToSite(world, getDeploy(id)!, log, signal)
  const launch = launchOf(world, deploy, deployable, signal)
  await preDeploy(world, getDeploy(id)!, deployable, launch, log, signal)
  await stopFirst(world, deploy, deployable, log, signal)
  await rollOut(world, getDeploy(id)!, deployable, launch, log, signal)
}

/**
 * Returns a function that prepares what the deploy's containers need on a node, once and again after their network was
 * removed.
 */
function launchOf(world: World, deploy: DeployRow, snapshot: Snapshot, signal: AbortSignal): LaunchOn {
  const known = new Map<string, Launch>()
  return async (nodeId) => {
    const service = getService(deploy.service_id)!
    const last = known.get(nodeId)
    const current = getDeploy(deploy.id)!
    const launch = await prepareLaunch(world, service, current, snapshot, nodeId, { last, signal })
    known.set(nodeId, launch)
    return launch
  }
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
    log.steps.end('canceled')
    log.system(deploy.error === null ? 'canceled' : `canceled: ${deploy.error}`)
    logRestartOfPrevious(deploy, log)
    await removeInstancesOf(world, deploy).catch(() => {})
    return
  }
  // Not a failure of the deploy: the next try records how its pre-deploy command ended.
  if (error instanceof NotRecorded) throw error
  const message = messageOf(explainFullDisk(error))
  if (!(error instanceof AppError) && !isOwnFailure(error)) {
    serverLog.error('a deploy failed', { id, error: message, stack: (error as Error).stack ?? '' })
  }
  recordFailure(deploy, message, log)
}
