import type { H3Event } from 'h3'
import { onCredentialsEnded } from '../accounts/credentials.ts'
import { identify } from './auth.ts'

/** Nothing announces an expiry, or a revocation by a command on the host. What is open must end within 5 s of either. */
const LOOK_EVERY_MS = 2_000

/**
 * Calls `onEnd` when the credentials of a request are no longer valid, for what stays open after it was admitted. The
 * returned function stops that.
 */
export function watchCredentials(event: H3Event, onEnd: () => void): () => void {
  const look = () => {
    if (identify(event).kind === 'none') onEnd()
  }
  const forget = onCredentialsEnded(look)
  const timer = setInterval(look, LOOK_EVERY_MS)
  return () => {
    clearInterval(timer)
    forget()
  }
}
