import { tellDeploy } from '#server/changes.ts'
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
import { isOwnFailure, recordFailure, tellFormer } from './failure.ts'
import { preDeploy } from './pre-deploy.ts'

const serverLog = logger('deploys')

/** Carries one deploy from where it stands to an end, which is in its record. Throws when that cannot be written. */
export async function runDeploy(world: World, id: string, signal: AbortSignal): Promise<void> {
  const log = openLog(id)
  try {
    if (getDeploy(id)!.status === 'deploying')
      log.system('interrupted, as by a restart of the server; going on')
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
  }
  // Not of what could not be recorded, which would begin it again at once.
  tellDeploy(id, getDeploy(id)?.service_id ?? '')
}

/** Carries a deploy on from where it stands; each step finds what an earlier try of it has done. */
async function carryOn(world: World, id: string, log: LogWriter, signal: AbortSignal): Promise<void> {
  // A build has nothing that could be taken up.
  if (getDeploy(id)!.status === 'building') tryMove(deployMachine, id, 'queued')
  const deploy = getDeploy(id)!
  const take = deploy.status === 'deploying' ? resume : begin
  const made = await take(world, deploy, log, signal)
  if (made === null) return
  if (made === 'site') return await switchToSite(world, getDeploy(id)!, log, signal)
  const launch = launchOf(world, deploy, made)
  await preDeploy(world, getDeploy(id)!, made.pre_deploy_command, launch, log, signal)
  await stopFirst(world, deploy, made, log, signal)
  await rollOut(world, getDeploy(id)!, launch, log, signal)
}

/** What the containers of a deploy need, found out when the first asks for it, and anew after their network was removed. */
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
    tellFormer(deploy, log)
    await removeInstancesOf(world, deploy).catch(() => {})
    return
  }
  // No failure of the deploy: how its pre-deploy command ended is recorded by the next try.
  if (error instanceof NotRecorded) throw error
  const message = messageOf(error)
  if (!(error instanceof AppError) && !isOwnFailure(error)) {
    serverLog.error('a deploy failed', { id, error: message, stack: (error as Error).stack ?? '' })
  }
  recordFailure(deploy, message, log)
}
