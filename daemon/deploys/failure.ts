import { announceService } from '#server/changes.ts'
import { deployMachine } from '#server/deploys/states.ts'
import type { DeployRow } from '#server/deploys/store.ts'
import type { LogWriter } from '#server/logs/files.ts'
import { getService } from '#server/services/store.ts'
import { tryMove } from '#server/state-machine.ts'

/** A deploy's error is a message for people, not a log. */
const MAX_ERROR_CHARACTERS = 8 * 1024

/**
 * Records why a deploy failed, and logs it once: a deploy that has already ended is not changed. Throws if this cannot be
 * written.
 */
export function recordFailure(deploy: DeployRow, reason: string, log: LogWriter): void {
  const to = deploy.status === 'building' ? 'build_failed' : 'deploy_failed'
  const error = reason.slice(0, MAX_ERROR_CHARACTERS)
  if (!tryMove(deployMachine, deploy.id, to, { error, finished_at: Date.now() })) return
  log.steps.end('failed')
  log.system(`failed: ${error.split('\n')[0]}`)
  logRestartOfPrevious(deploy, log)
  announceService(deploy.service_id)
}

/** Logs that the instance keeper, once the deploy has ended, restarts the version that was stopped for it. */
export function logRestartOfPrevious(deploy: DeployRow, log: LogWriter): void {
  const hasFormer = (getService(deploy.service_id)?.live_deploy_id ?? null) !== null
  if (deploy.stops_first && hasFormer) log.system('restarting the previous version')
}

/** Failures of the application itself, which only its deploy reports. */
const OWN_FAILURES = new Set(['NotReady', 'BuildFailure', 'PreDeployFailure', 'SiteFailure'])

/** Whether a deploy failed because of the application, so that a retry would fail again. */
export function isOwnFailure(error: unknown): boolean {
  return error instanceof Error && OWN_FAILURES.has(error.name)
}
