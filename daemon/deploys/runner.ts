import { announceDeploy } from '#server/changes.ts'
import { useContext } from '#server/context.ts'
import { deployMachine } from '#server/deploys/states.ts'
import { getDeploy, type DeployRow, type Snapshot } from '#server/deploys/store.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { openLog, type LogWriter } from '#server/logs/files.ts'
import { getService } from '#server/services/store.ts'
import { tryMove } from '#server/state-machine.ts'
import { prepareLaunch, type Launch } from '../instances/launch.ts'
import { NotRecorded } from '../jobs/run-to-end.ts'
import { removeInstancesOf, rollOut } from '../rollouts/rollout.ts'
import { stopFirst } from '../rollouts/stop-first.ts'
import { switchToSite } from '../sites/deploy.ts'
import type { AbortReason } from '../work/abort-reason.ts'
import type { World } from '../world.ts'
import { outlastAbsences } from './absences.ts'
import { begin, resume } from './begin.ts'
import { isOwnFailure, recordFailure, logRestartOfPrevious } from './failure.ts'
import { preDeploy } from './pre-deploy.ts'

const serverLog = logger('deploys')

/** Runs one deploy from its current status to its end and records the result. Throws if that cannot be written. */
export async function runDeploy(world: World, id: string, signal: AbortSignal): Promise<void> {
  const log = openLog(id)
  try {
    if (getDeploy(id)!.status === 'deploying')
      log.system('the deploy was interrupted, for example by a restart of the server; continuing')
    const { buildTimeoutMs } = useContext().options
    await outlastAbsences(world.engine, buildTimeoutMs, log, signal, () =>
      continueDeploy(world, id, log, signal),
    )
  } catch (error) {
    await settleFailure(world, id, error, log, signal)
  } finally {
    await log
      .close()
      .catch((error: unknown) =>
        serverLog.error('a deploy log could not be written', { id, error: messageOf(error) }),
      )
  }
  // Not if the result could not be recorded: the event would start it again at once.
  announceDeploy(id, getDeploy(id)?.service_id ?? '')
}

/** Continues a deploy from its current status; each step finds what an earlier try has done. */
async function continueDeploy(world: World, id: string, log: LogWriter, signal: AbortSignal): Promise<void> {
  // A build cannot be continued.
  if (getDeploy(id)!.status === 'building') tryMove(deployMachine, id, 'queued')
  const deploy = getDeploy(id)!
  const take = deploy.status === 'deploying' ? resume : begin
  const deployable = await take(world, deploy, log, signal)
  if (deployable === null) return
  if (deployable === 'site') return await switchToSite(world, getDeploy(id)!, log, signal)
  const launch = launchOf(world, deploy, deployable)
  await preDeploy(world, getDeploy(id)!, deployable.pre_deploy_command, launch, log, signal)
  await stopFirst(world, deploy, deployable, log, signal)
  await rollOut(world, getDeploy(id)!, launch, log, signal)
}

/** Returns a function that prepares what the deploy's containers need, once and again after their network was removed. */
function launchOf(world: World, deploy: DeployRow, snapshot: Snapshot): () => Promise<Launch> {
  let last: Launch | undefined
  return async () => {
    const service = getService(deploy.service_id)!
    last = await prepareLaunch(world, service, getDeploy(deploy.id)!, snapshot, last)
    return last
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
    log.system(deploy.error === null ? 'canceled' : `canceled: ${deploy.error}`)
    logRestartOfPrevious(deploy, log)
    await removeInstancesOf(world, deploy).catch(() => {})
    return
  }
  // Not a failure of the deploy: the next try records how its pre-deploy command ended.
  if (error instanceof NotRecorded) throw error
  const message = messageOf(error)
  if (!(error instanceof AppError) && !isOwnFailure(error)) {
    serverLog.error('a deploy failed', { id, error: message, stack: (error as Error).stack ?? '' })
  }
  recordFailure(deploy, message, log)
}
