import { updateDeploy, type DeployRow, type Snapshot } from '#server/deploys/store.ts'
import { ledgerOn } from '#server/ledger.ts'
import type { LogWriter } from '#server/logs/files.ts'
import { allows, placementOf } from '#server/nodes/placement-setting.ts'
import { getNode, listNodes, ownNodeId } from '#server/nodes/store.ts'
import { getService } from '#server/services/store.ts'
import { awaitPlace } from '../instances/place.ts'
import { ENDED_WITH_ENGINE, runToEnd, type RunEnd } from '../jobs/run-to-end.ts'
import type { LaunchOn } from '../rollouts/rollout.ts'
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
 * the service's variables, without its disk. A restart and a rollback have no new image and do not run it. Throws
 * PreDeployFailure if it does not end with exit code 0; the deploy is then recorded as failed.
 */
export async function preDeploy(
  world: World,
  deploy: DeployRow,
  snapshot: Snapshot,
  launch: LaunchOn,
  log: LogWriter,
  signal: AbortSignal,
): Promise<void> {
  const command = snapshot.pre_deploy_command
  if (command === null || deploy.pre_deployed || deploy.trigger === 'restart' || deploy.rollback_of !== null)
    return
  log.steps.begin('pre_deploy', 'Run the pre-deploy command')
  log.system(`running the pre-deploy command: ${command.split('\n')[0]}`)
  let failure: PreDeployFailure | undefined
  const nodeId = await nodeFor(world, deploy, snapshot, log, signal)
  const run = {
    logId: deploy.id,
    nodeId,
    launch: () => launch(nodeId),
    name: nameOf(deploy),
    kind: 'pre-deploy',
    command,
    timeoutMs: TIMEOUT_MS,
    recordEnd: async (end: RunEnd) => void (failure = settle(deploy, end, log)),
  } as const
  await runToEnd(world, run, log, signal)
  if (failure) throw failure
}

/** The node of a command that an earlier try has begun, as far as is recorded. */
export function nodeOfPreDeploy(deploy: Pick<DeployRow, 'id'>): string | undefined {
  return listNodes().find(({ id }) => ledgerOn(id).find('container', nameOf(deploy)))?.id
}

/** The server's own node, which has the image, unless the service's instances may not run there; then where the first will. */
async function nodeFor(
  world: World,
  deploy: DeployRow,
  snapshot: Snapshot,
  log: LogWriter,
  signal: AbortSignal,
): Promise<string> {
  const begun = nodeOfPreDeploy(deploy)
  if (begun !== undefined) return begun
  const service = getService(deploy.service_id)!
  const own = getNode(ownNodeId())!
  const isBoundElsewhere = snapshot.disks.length > 0 && (service.node_id ?? own.id) !== own.id
  if (allows(placementOf(service), own) && !isBoundElsewhere) return own.id
  return awaitPlace(world, service, deploy.id, snapshot, (what) => log.system(what), signal)
}

function nameOf({ id }: Pick<DeployRow, 'id'>): string {
  return `pre-${id}`
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
