import { updateDeploy, type DeployRow } from '#server/deploys/store.ts'
import type { LogWriter } from '#server/logs/files.ts'
import type { Launch } from '../instances/launch.ts'
import { ENDED_WITH_ENGINE, runToEnd, type RunEnd } from '../jobs/run-to-end.ts'
import type { World } from '../world.ts'
import { recordFailure } from './failure.ts'

/** A migration of a large database may take long, but one that hangs must not block the deploy forever. */
const TIMEOUT_MS = 30 * 60_000

/** The pre-deploy command failed, and that is recorded. */
class PreDeployFailure extends Error {
  override readonly name = 'PreDeployFailure'
}

/**
 * Runs the pre-deploy command once in the new image, before any instance of it starts: in the environment's network, with
 * the service's variables, without its disk. A restart and a rollback have no new image and do not run it.
 * Throws PreDeployFailure if it does not end with exit code 0; the deploy is then recorded as failed.
 */
export async function preDeploy(
  world: World,
  deploy: DeployRow,
  command: string | null,
  launch: () => Promise<Launch>,
  log: LogWriter,
  signal: AbortSignal,
): Promise<void> {
  if (command === null || deploy.pre_deployed || deploy.trigger === 'restart' || deploy.rollback_of !== null)
    return
  log.system(`running the pre-deploy command: ${command.split('\n')[0]}`)
  let failure: PreDeployFailure | undefined
  const run = {
    logId: deploy.id,
    launch,
    name: `pre-${deploy.id}`,
    kind: 'pre-deploy',
    command,
    timeoutMs: TIMEOUT_MS,
    recordEnd: async (end: RunEnd) => void (failure = settle(deploy, end, log)),
  } as const
  await runToEnd(world, run, log, signal)
  if (failure) throw failure
}

/** Records the end of the command; if it failed, also that of the deploy, because the command must not run again. */
function settle(deploy: DeployRow, end: RunEnd, log: LogWriter): PreDeployFailure | undefined {
  const { exitCode, oomKilled, timedOut, engineWasAway, lastLines } = end
  const fail = (how: string) => {
    const reason = [`the pre-deploy command ${how}`, ...lastLines].join('\n')
    recordFailure(deploy, reason, log)
    return new PreDeployFailure(reason)
  }
  if (timedOut) return fail(`did not finish within ${TIMEOUT_MS / 60_000} minutes`)
  if (exitCode !== 0 && oomKilled) return fail('ran out of memory (raise memory_limit_mb)')
  if (exitCode !== 0)
    return fail(`ended with exit code ${exitCode ?? 'unknown'}${engineWasAway ? ENDED_WITH_ENGINE : ''}`)
  // A program that it started was killed, but the command itself decided to succeed, as a job may.
  if (oomKilled)
    log.system('a program of the pre-deploy command ran out of memory (memory_limit_mb); exit code 0')
  updateDeploy(deploy.id, { pre_deployed: 1 })
  return undefined
}
