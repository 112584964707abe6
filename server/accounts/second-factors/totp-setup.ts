import type { z } from 'zod'
import { useContext, useDatabase } from '../../context.ts'
import { AppError } from '../../errors.ts'
import { logger } from '../../log.ts'
import { guessesOf } from '../guesses.ts'
import { verifyPassword } from '../passwords.ts'
import { selectAccount, selectSessions } from '../store.ts'
import { renewRecoveryCodes } from './recovery-codes.ts'
import type { RecoveryCodes, TotpSetup } from './schema.ts'
import {
  clearSecondFactors,
  deleteTotp,
  hasSecondFactor,
  selectTotp,
  writeTotp,
  writeVerifiedAt,
} from './store.ts'
import { newTotpSecret, secondsAhead, stepOf, totpUri } from './totp.ts'

const log = logger('accounts')

/** Secrets that are not confirmed yet, by session. Only in memory: one that is never confirmed leaves nothing behind. */
const begun = new Map<string, string>()

/** Creates the secret of an authenticator app. It counts only once a code confirms it; until then an earlier app does. */
export function beginTotp(sessionId: string, host: string): z.input<typeof TotpSetup> {
  const database = useDatabase()
  const open = new Set(selectSessions(database, Date.now()).map(({ id }) => id))
  for (const id of begun.keys()) if (!open.has(id)) begun.delete(id)
  const secret = newTotpSecret()
  begun.set(sessionId, secret)
  return { secret, uri: totpUri(secret, selectAccount(database)!.email, host) }
}

/**
 * Sets the app up whose secret this session was given, in place of an earlier one, with new recovery codes. Throws `conflict`
 * when there is none, and `invalid_credentials` for a wrong code.
 */
export function confirmTotp(sessionId: string, code: string): z.input<typeof RecoveryCodes> {
  const { database, vault } = useContext()
  const secret = begun.get(sessionId)
  if (secret === undefined) {
    throw new AppError(
      'conflict',
      'no authenticator app is being set up by this session: begin with POST /auth/totp',
    )
  }
  const now = Date.now()
  const step = stepOf(secret, code, now)
  if (step === null) throw wrongCode(secondsAhead(secret, code, now))
  const codes = database.transaction(() => {
    writeTotp(database, {
      secret: vault.seal(secret),
      last_step: step,
      confirmed_at: now,
      last_used_at: now,
    })
    writeVerifiedAt(database, sessionId, now)
    return renewRecoveryCodes(database)
  })
  begun.delete(sessionId)
  log.info('an authenticator app was set up as a second factor')
  return { recovery_codes: codes }
}

/** Turns the app off. Throws `not_found`, or `invalid_credentials` when the password is wrong. */
export async function turnTotpOff(sessionId: string, password: string): Promise<void> {
  const database = useDatabase()
  if (!selectTotp(database)) throw new AppError('not_found', 'no authenticator app is set up')
  const isRight = await guessesOf(sessionId).passwords.run(
    async () => (await verifyPassword(password, selectAccount(database)?.password_hash)) || undefined,
  )
  if (!isRight) throw new AppError('invalid_credentials', 'current_password: is wrong')
  database.transaction(() => {
    deleteTotp(database)
    if (!hasSecondFactor(database)) clearSecondFactors(database)
  })
  log.info('the authenticator app was turned off')
}

/** Says by how much the clocks differ, if that is what is wrong. This helps nobody to guess: the session has the secret. */
function wrongCode(aheadSeconds: number | null): AppError {
  if (aheadSeconds === null) {
    return new AppError(
      'invalid_credentials',
      'code: is wrong; type the six digits that the app shows now for this server',
    )
  }
  const minutes = Math.max(1, Math.round(Math.abs(aheadSeconds) / 60))
  const about = `about ${minutes} minute${minutes === 1 ? '' : 's'}`
  return new AppError(
    'invalid_credentials',
    `code: is one of another time: the clock of the device with the app is ${about} ${aheadSeconds > 0 ? 'ahead of' : 'behind'} the server's, ` +
      `which shows ${new Date().toISOString().slice(0, 'YYYY-MM-DDTHH:MM'.length)} UTC; set the wrong one right and try the next code`,
  )
}
