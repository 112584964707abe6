import { deployMachine } from '#server/deploys/states.ts'
import { deploysInProgress, updateDeploy, type DeployRow } from '#server/deploys/store.ts'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { openLog } from '#server/logs/files.ts'
import { tryMove } from '#server/state-machine.ts'

const log = logger('deploys')

/** A deploy that is running each time the server crashes is the likely cause, so it is not retried forever. */
const MAX_CRASHES = 2

const REASON =
  'the server crashed twice while this deploy was running: find the reason in its log before you deploy this source again'

/** Continues deploys after a restart: builds start over, rollouts go on, unless they seem to have crashed the server. */
export function recoverDeploys(hasCrashed: boolean): void {
  for (const deploy of deploysInProgress()) {
    const crashes = hasCrashed && deploy.status !== 'queued' ? deploy.crashes + 1 : 0
    if (crashes !== deploy.crashes) updateDeploy(deploy.id, { crashes })
    if (crashes >= MAX_CRASHES) giveUp(deploy)
    else if (deploy.status === 'building') tryMove(deployMachine, deploy.id, 'queued', { started_at: null })
  }
}

/** Fails a deploy. Its instances, if any, are removed like everything that no deploy needs. */
function giveUp({ id, status }: DeployRow): void {
  const to = status === 'building' ? 'build_failed' : 'deploy_failed'
  if (!tryMove(deployMachine, id, to, { error: REASON, finished_at: Date.now() })) return
  log.warn('giving up on a deploy', { id, error: REASON })
  const deployLog = openLog(id)
  deployLog.system(`failed: ${REASON}`)
  deployLog
    .close()
    .catch((error: unknown) =>
      log.error('a deploy log could not be written', { id, error: messageOf(error) }),
    )
}
