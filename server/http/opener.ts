import type { H3Event } from 'h3'
import type { Attempt } from '../audit/recording.ts'
import { attemptOf } from './attempts.ts'
import { identify, type Principal } from './auth.ts'
import { watchCredentials } from './credential-watch.ts'

/** Who has opened something that lasts longer than the request. */
export interface Opener {
  principal: Principal
  /** An action of theirs, for the audit log. */
  attempt(action: string): Attempt
  /** Whether their credentials are still valid. */
  isAllowed(): boolean
  /** Calls `onEnd` when they no longer are. The returned function stops that. */
  watch(onEnd: () => void): () => void
}

/** Who sent a request. */
export function openerOf(event: H3Event, principal: Principal): Opener {
  return {
    principal,
    attempt: (action) => attemptOf(event, principal, action),
    isAllowed: () => identify(event).kind !== 'none',
    watch: (onEnd) => watchCredentials(event, onEnd),
  }
}
