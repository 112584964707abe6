import type { H3Event } from 'h3'
import { actionOf } from '../audit/action.ts'
import { record } from '../audit/recording.ts'
import { useDatabase } from '../context.ts'
import { AppError, messageOf, type ErrorCode } from '../errors.ts'
import { logger } from '../log.ts'
import { RateLimit } from '../work/rate-limit.ts'
import { attemptOf, isRecorded, namedIn, routeOf, type AuditedContract } from './attempts.ts'
import { identify, type Principal } from './auth.ts'

const log = logger('audit')

/** Refusals that are recorded: someone wanted what he may not, or did not know a secret. */
const REFUSALS = new Set<ErrorCode>([
  'unauthorized',
  'forbidden',
  'second_factor_required',
  'session_required',
  'cross_site_request',
  'invalid_credentials',
  'too_many_attempts',
])
/** Refusals that are recorded in a minute, of one caller and of all strangers together: nobody may fill the disk with them. */
const PER_MINUTE = 60
/** Callers whose refusals are counted. Only tokens and sessions that exist get here. */
const MAX_CALLERS = 1_000

interface Counted {
  limit: RateLimit
  /** How many were not recorded since the last that was. */
  missing: number
}

const callers = new Map<string, Counted>()

/** Records an operation that was refused to someone, within a limit. */
export function recordRefusal(event: H3Event, spec: AuditedContract, error: unknown): void {
  if (!(error instanceof AppError) || !REFUSALS.has(error.code)) return
  const principal = identify(event)
  const isStranger = principal.kind === 'none'
  if (isStranger && !isRecorded(event.method, spec)) return
  const counted = countedOf(principal)
  if (!counted.limit.pass()) return void counted.missing++
  const path = routeOf(event)
  const isNamed = spec.audit !== false && event.method !== 'GET'
  const action = spec.audit || (isNamed ? actionOf(event.method, path) : 'api.called')
  const missing = counted.missing > 0 ? [`${counted.missing} more like this are not recorded`] : []
  try {
    const effect = {
      // Strangers could write into the log whatever they like.
      resource: isStranger ? null : namedIn(event),
      changes: [`${event.method} ${path}: ${error.code}`, ...missing],
    }
    record(useDatabase(), attemptOf(event, principal, action), 'refused', effect)
    counted.missing = 0
  } catch (fault) {
    log.error('a refusal could not be recorded', { error: messageOf(fault) })
  }
}

function countedOf(principal: Principal): Counted {
  const caller = principal.kind === 'token' ? `token ${principal.tokenId}` : principal.kind
  let counted = callers.get(caller)
  if (!counted) {
    if (callers.size >= MAX_CALLERS) callers.clear()
    callers.set(caller, (counted = { limit: new RateLimit(PER_MINUTE, 60_000), missing: 0 }))
  }
  return counted
}
