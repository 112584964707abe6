import { deployMachine } from '#server/deploys/states.ts'
import { deploysInProgress, updateDeploy, type DeployRow } from '#server/deploys/store.ts'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { openLog } from '#server/logs/files.ts'
import { tryMove } from '#server/state-machine.ts'

const log = logger('deploys')

/** A deploy that is under way each time the server crashes is the likely cause; it is not tried for ever. */
const MAX_CRASHES = 2

const REASON =
  'the server crashed twice while this deploy was under way: find the reason in its log before you deploy this source again'

/** Takes up what was under way when the server ended: a build starts over, a rollout goes on, unless it crashed the server. */
export function recoverDeploys(hasCrashed: boolean): void {
  for (const deploy of deploysInProgress()) {
    const crashes = hasCrashed && deploy.status !== 'queued' ? deploy.crashes + 1 : 0
    if (crashes !== deploy.crashes) updateDeploy(deploy.id, { crashes })
    if (crashes >= MAX_CRASHES) giveUp(deploy)
    else if (deploy.status === 'building') tryMove(deployMachine, deploy.id, 'queued', { started_at: null })
  }
}

/** Its instances, if it has any, are removed with everything that no deploy wants. */
function giveUp({ id, status }: DeployRow): void {
  const to = status === 'building' ? 'build_failed' : 'deploy_failed'
  if (!tryMove(deployMachine, id, to, { error: REASON, finished_at: Date.now() })) return
  log.warn('a deploy is given up', { id, error: REASON })
  const deployLog = openLog(id)
  deployLog.system(`failed: ${REASON}`)
  deployLog
    .close()
    .catch((error: unknown) =>
      log.error('a deploy log could not be written', { id, error: messageOf(error) }),
    )
}
