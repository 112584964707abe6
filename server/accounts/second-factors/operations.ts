import type { z } from 'zod'
import { timestamp } from '../../clock.ts'
import { useDatabase } from '../../context.ts'
import { isUniqueViolation, type Database } from '../../database/index.ts'
import { AppError } from '../../errors.ts'
import { newId } from '../../ids.ts'
import { logger } from '../../log.ts'
import { guessesOf } from '../guesses.ts'
import { selectAccount } from '../store.ts'
import { useCode } from './codes.ts'
import type { Assertion } from './input.ts'
import { refused, registrationOptions, verifyAssertion, verifyAttestation } from './passkeys.ts'
import { renewRecoveryCodes } from './recovery-codes.ts'
import {
  toPasskey,
  type NewPasskey,
  type Passkey,
  type PasskeyOptions,
  type RecoveryCodes,
  type SecondFactors,
  type Verification,
} from './schema.ts'
import type { Site } from './site.ts'
import {
  clearSecondFactors,
  countRecoveryCodes,
  deletePasskey,
  hasSecondFactor,
  insertPasskey,
  selectPasskeyByCredential,
  selectPasskeys,
  selectTotp,
  usePasskey,
  writeVerifiedAt,
} from './store.ts'

const log = logger('accounts')

/** More than anybody has devices. */
const MAX_PASSKEYS = 50

/** What is set up. */
export function viewSecondFactors(): z.input<typeof SecondFactors> {
  const database = useDatabase()
  const totp = selectTotp(database)
  return {
    totp: totp
      ? { confirmed_at: timestamp(totp.confirmed_at), last_used_at: timestamp(totp.last_used_at) }
      : null,
    passkeys: selectPasskeys(database).map(toPasskey),
    recovery_codes_left: countRecoveryCodes(database),
  }
}

/** Options for a new passkey of this session's browser. */
export function newPasskeyOptions(site: Site, sessionId: string): z.input<typeof PasskeyOptions> {
  const database = useDatabase()
  const { id, email } = selectAccount(database)!
  const known = selectPasskeys(database).filter(({ host }) => host === site.host)
  return registrationOptions(site, { id, email, sessionId }, known)
}

/**
 * Keeps a passkey that the browser has created; the session counts as verified. Throws `invalid_credentials` when it does not
 * verify, and `conflict` when it is there already or there are too many.
 */
export async function registerPasskey(
  { name, credential }: z.output<typeof NewPasskey>,
  sessionId: string,
  site: Site,
): Promise<z.input<typeof Passkey>> {
  const database = useDatabase()
  const { id, publicKey, counter } = await verifyAttestation(credential, sessionId, site)
  const now = Date.now()
  const row = {
    id: newId('passkey'),
    name,
    host: site.host,
    credential_id: id,
    public_key: publicKey,
    counter,
    created_at: now,
    last_used_at: null,
  }
  database.transaction(() => {
    if (selectPasskeys(database).length >= MAX_PASSKEYS)
      throw new AppError('conflict', `there are ${MAX_PASSKEYS} passkeys already: remove one first`)
    try {
      insertPasskey(database, row)
    } catch (error) {
      throw isUniqueViolation(error) ? new AppError('conflict', 'this passkey is there already') : error
    }
    writeVerifiedAt(database, sessionId, now)
  })
  log.info('a passkey was added', { passkey: row.id, name, host: site.host })
  return toPasskey(row)
}

/** Removes a passkey. With the last factor the recovery codes go too. Throws `not_found`. */
export function removePasskey(id: string): void {
  const database = useDatabase()
  database.transaction(() => {
    if (!deletePasskey(database, id)) throw new AppError('not_found', `there is no passkey ${id}`)
    if (!hasSecondFactor(database)) clearSecondFactors(database)
  })
  log.info('a passkey was removed', { passkey: id })
}

/** Replaces the recovery codes. Throws `conflict` when there is no factor that they could stand in for. */
export function replaceRecoveryCodes(): z.input<typeof RecoveryCodes> {
  const database = useDatabase()
  const codes = database.transaction(() => {
    if (!hasSecondFactor(database)) throw nothingSetUp()
    return renewRecoveryCodes(database)
  })
  log.info('the recovery codes were replaced')
  return { recovery_codes: codes }
}

/**
 * Verifies a session by a second factor. Throws `invalid_credentials`, `too_many_attempts`, or `conflict` when none is set up.
 */
export async function verifySession(
  { code, passkey }: z.output<typeof Verification>,
  sessionId: string,
  passkeySite: () => Site,
): Promise<void> {
  const database = useDatabase()
  if (!hasSecondFactor(database)) throw nothingSetUp()
  const verify = () => {
    writeVerifiedAt(database, sessionId, Date.now())
    return true as const
  }
  if (passkey) return void (await withPasskey(passkey, passkeySite(), verify))
  const { verifications, codes } = guessesOf(sessionId)
  const isRight = await verifications.run(async () =>
    database.transaction(() => codes.check(code!, useCode) && verify()) ? true : undefined,
  )
  if (isRight) return
  log.warn('a verification of a session failed: the code was wrong')
  throw new AppError(
    'invalid_credentials',
    'code: is wrong or was used before; each code holds once: wait for the next one of the app',
  )
}

/**
 * Runs `work` in the transaction that records the use of a passkey. Throws `invalid_credentials` when it does not verify, or
 * was removed meanwhile. It is not counted: nobody can guess a signature.
 */
export async function withPasskey<T>(
  passkey: Assertion,
  site: Site,
  work: (database: Database) => T,
): Promise<T> {
  const database = useDatabase()
  const known = selectPasskeyByCredential(database, passkey.id)
  if (!known) throw refused('this server does not know it; it may have been removed')
  const counter = await verifyAssertion(passkey, known, site)
  return database.transaction(() => {
    if (!usePasskey(database, known.id, known.counter, counter, Date.now()))
      throw refused('it was used or removed at the same moment: try again')
    return work(database)
  })
}

function nothingSetUp(): AppError {
  return new AppError(
    'conflict',
    'no second factor is set up: set up an authenticator app or a passkey first',
  )
}
