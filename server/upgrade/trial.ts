import { AppError } from '../errors.ts'
import { logger } from '../log.ts'
import { schedule } from '../options/schedule.ts'
import { acceptUpgrade, forgetFormerDatabase, readUpgrade, type Upgrade } from './record.ts'

const log = logger('upgrade')

/** `deployer upgrade` decides by then; when it was killed, the server itself does. */
const DECIDED_WITHIN_MS = 30_000

let trial: { upgrade: Upgrade; since: number } | null = null

/** Has this server answer changes with 503 and start no work until it is decided that it stays. */
export function beginTrial(upgrade: Upgrade): void {
  trial = { upgrade, since: performance.now() }
  log.info(`version ${upgrade.to} is on trial: ${upgrade.from} comes back if it is no good`)
}

/** Whether it is not yet decided that this server stays. */
export function isOnTrial(): boolean {
  return trial !== null
}

/** Throws `service_unavailable`, with the time that is left, while it is not decided that this server stays. */
export function assertAccepted(): void {
  if (trial === null) return
  const leftMs = schedule.trialMs - (performance.now() - trial.since)
  throw new AppError(
    'service_unavailable',
    `the server is being upgraded to ${trial.upgrade.to}, and takes no changes until that is decided: try again in a minute`,
    { retryAfterSeconds: Math.max(1, Math.ceil(leftMs / 1_000)) },
  )
}

/** Looks whether it was decided that this server stays. `engineFault` is why the engine does not answer; null when it does. */
export function lookAtTrial(dataDirectory: string, engineFault: string | null): void {
  if (trial === null) return
  const isLate = performance.now() - trial.since > schedule.trialMs + DECIDED_WITHIN_MS
  const isGood = engineFault === null || !trial.upgrade.engineAnswered
  if (isLate && isGood) acceptUpgrade(dataDirectory)
  if (readUpgrade(dataDirectory) !== null) return
  log.info(`the upgrade from ${trial.upgrade.from} was accepted: going to work`)
  trial = null
  forgetFormerDatabase(dataDirectory)
}
