import { tellService } from '#server/changes.ts'
import { deployMachine } from '#server/deploys/states.ts'
import type { DeployRow } from '#server/deploys/store.ts'
import type { LogWriter } from '#server/logs/files.ts'
import { getService } from '#server/services/store.ts'
import { tryMove } from '#server/state-machine.ts'

/** A deploy's error is a text that people read, not a log. */
const MAX_ERROR_CHARACTERS = 8 * 1024

/**
 * Records why a deploy failed, and says so in its log, once: one that has ended already stays as it is. Throws when that
 * cannot be written.
 */
export function recordFailure(deploy: DeployRow, reason: string, log: LogWriter): void {
  const to = deploy.status === 'building' ? 'build_failed' : 'deploy_failed'
  const error = reason.slice(0, MAX_ERROR_CHARACTERS)
  if (!tryMove(deployMachine, deploy.id, to, { error, finished_at: Date.now() })) return
  log.system(`failed: ${error.split('\n')[0]}`)
  tellFormer(deploy, log)
  tellService(deploy.service_id)
}

/** The instance keeper starts what a rollout stopped first, once the deploy has ended. */
export function tellFormer(deploy: DeployRow, log: LogWriter): void {
  const hasFormer = (getService(deploy.service_id)?.live_deploy_id ?? null) !== null
  if (deploy.stops_first && hasFormer) log.system('the former version is started again')
}

/** Failures that are the application's own, told in its deploy and nowhere else. */
const OWN = new Set(['NotReady', 'BuildFailure', 'PreDeployFailure', 'SiteFailure'])

/** Whether a deploy failed by what it deploys: the same would happen again. */
export function isOwnFailure(error: unknown): boolean {
  return error instanceof Error && OWN.has(error.name)
}
