import { useDatabase } from '../../context.ts'
import type { Database } from '../../database/index.ts'
import { AppError, type SecondFactor } from '../../errors.ts'
import { countRecoveryCodes, hasSecondFactor, selectPasskeys, selectTotp, selectVerifiedAt } from './store.ts'

/** How long a session counts as verified after it has shown a second factor. */
const VERIFIED_MS = 10 * 60_000

/** Who asks: only sessions are. */
type Asker = { kind: 'session'; sessionId: string } | { kind: 'token' } | { kind: 'none' }

/**
 * Refuses a session that has not shown a second factor lately, if one is set up. Called by everything that would give a thief of
 * the session something lasting. Throws `second_factor_required`.
 */
export function assertVerified(asker: Asker): void {
  const database = useDatabase()
  if (asker.kind !== 'session' || !hasSecondFactor(database)) return
  const verifiedAt = selectVerifiedAt(database, asker.sessionId)
  const ageMs = Date.now() - (verifiedAt ?? -Infinity)
  // The host's clock may have been set back.
  if (ageMs >= 0 && ageMs < VERIFIED_MS) return
  throw new AppError(
    'second_factor_required',
    'this needs a second factor that was shown within the last 10 minutes: verify the session first',
    { methods: methodsAt(database) },
  )
}

/** The second factors that would do, at a host of the dashboard or at any. */
export function methodsAt(database: Database, host?: string): SecondFactor[] {
  const passkeys = selectPasskeys(database)
  const methods: SecondFactor[] = []
  if (selectTotp(database)) methods.push('totp')
  if (passkeys.some((passkey) => host === undefined || passkey.host === host)) methods.push('passkey')
  if (countRecoveryCodes(database) > 0) methods.push('recovery')
  return methods
}
