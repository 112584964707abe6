import type { z } from 'zod'
import { useContext, useDatabase } from '../context.ts'
import { isUniqueViolation, type Database } from '../database/index.ts'
import { AppError } from '../errors.ts'
import { newId, randomHex } from '../ids.ts'
import { logger } from '../log.ts'
import { announceCredentialsEnded } from './credentials.ts'
import { CodeGuesses, forgetPasswordGuesses, guessesOf } from './guesses.ts'
import { hashPassword, verifyPassword } from './passwords.ts'
import { toUser, type AccountRow, type PasswordChange, type Setup, type User } from './schema.ts'
import type { Assertion } from './second-factors/input.ts'
import { useCode } from './second-factors/codes.ts'
import { withPasskey } from './second-factors/operations.ts'
import type { Site } from './second-factors/site.ts'
import { clearSecondFactors, hasSecondFactor, selectPasskeys } from './second-factors/store.ts'
import { methodsAt } from './second-factors/verified.ts'
import { openSession } from './sessions.ts'
import { isSetupCode, removeSetupCode } from './setup-code.ts'
import {
  deleteOtherSessions,
  insertAccount,
  recordPasswordReset,
  replacePasswordHash,
  selectAccount,
  selectPasswordReset,
} from './store.ts'
import { Throttle } from './throttle.ts'

const log = logger('accounts')
/** Shared by all clients: there is only one account, and an attacker can easily change addresses. */
const throttle = new Throttle('sign-ins')
/** Codes after the right password. */
const codes = new CodeGuesses()
/** Distinguishes one reset from the next. */
const RESET_MARK_BYTES = 8
let lastSeenReset: string | undefined

/** What somebody types to sign in. */
export interface Credentials {
  email: string
  password: string
  code?: string | undefined
}

/** A new session: its id, and the secret for the browser's cookie. */
export interface NewSession {
  id: string
  secret: string
}

/** Whether setup is done. */
export function accountExists(): boolean {
  return selectAccount(useDatabase()) !== undefined
}

/** The administrator, or null before setup. */
export function viewUser(): z.input<typeof User> | null {
  const account = selectAccount(useDatabase())
  return account ? toUser(account) : null
}

/** Creates the account and signs its browser in. Throws `conflict` if one exists, `invalid_credentials` for a wrong code. */
export async function setUp(
  input: z.output<typeof Setup>,
  userAgent: string | undefined,
): Promise<NewSession> {
  const context = useContext()
  if (accountExists()) throw alreadySetUp()
  if (!isSetupCode(context, input.code)) {
    throw new AppError(
      'invalid_credentials',
      'the setup code is wrong: take it from the link that the server printed at its start',
    )
  }
  const passwordHash = await hashPassword(input.password)
  const session = context.database.transaction(() => {
    const account = {
      id: newId('user'),
      email: input.email,
      password_hash: passwordHash,
      created_at: Date.now(),
    }
    try {
      insertAccount(context.database, account)
    } catch (error) {
      throw isUniqueViolation(error) ? alreadySetUp() : error
    }
    return openSession(context.database, userAgent, false)
  })
  removeSetupCode(context)
  log.info('the account was created')
  return session
}

/**
 * Signs a browser in with the password and, if a second factor is set up, a code. `host` is where the browser sees the
 * dashboard. Throws `invalid_credentials`, `second_factor_required` when the password is right and there is no code, or
 * `too_many_attempts` without checking the credentials.
 */
export async function signIn(
  credentials: Credentials,
  userAgent: string | undefined,
  host?: string,
): Promise<NewSession> {
  reopenAfterReset()
  const session = await throttle.run(async () => {
    const account = await knownAccount(credentials)
    return account && useDatabase().transaction(() => admit(account, credentials.code, userAgent))
  })
  if (session === 'no code') throw codeNeeded(host)
  if (session) return session
  log.warn('a sign-in failed')
  throw new AppError(
    'invalid_credentials',
    credentials.code === undefined
      ? 'the e-mail or the password is wrong'
      : 'the e-mail, the password or the code is wrong, or the code was used before',
  )
}

/** Signs a browser in with a passkey, which needs no password. Throws `invalid_credentials`. */
export function signInWithPasskey(
  passkey: Assertion,
  userAgent: string | undefined,
  site: Site,
): Promise<NewSession> {
  return withPasskey(passkey, site, (database) => openSession(database, userAgent, true))
}

/**
 * Changes the password and ends every session but `keptSession`. Throws `invalid_credentials` when the current password is
 * wrong, or `too_many_attempts` without checking it.
 */
export async function changePassword(
  input: z.output<typeof PasswordChange>,
  keptSession: string,
): Promise<void> {
  if (!(await guessesOf(keptSession).passwords.run(() => judgeChange(input, keptSession)))) {
    log.warn('a password change failed: the current password was wrong')
    throw new AppError('invalid_credentials', 'current_password: is wrong')
  }
  forgetPasswordGuesses()
  announceCredentialsEnded()
  log.info('the password was changed; every other session has ended')
}

/**
 * Replaces a forgotten password, ends every session, lifts the limit on sign-ins and removes second factors unless they are
 * to be kept. Returns the account's e-mail, or null when there is no account.
 */
export async function replacePassword(
  database: Database,
  password: string,
  { keepsSecondFactor = false }: { keepsSecondFactor?: boolean } = {},
): Promise<string | null> {
  const account = selectAccount(database)
  if (!account) return null
  const passwordHash = await hashPassword(password)
  // The owner of the host decides: this overrides a change made through the dashboard in the meantime.
  database.transaction(() => {
    setPassword(database, selectAccount(database)!.password_hash, passwordHash, null)
    if (!keepsSecondFactor) clearSecondFactors(database)
    recordPasswordReset(database, randomHex(RESET_MARK_BYTES))
  })
  return account.email
}

/** After a reset on the host, wrong guesses at the previous password no longer block sign-in. */
function reopenAfterReset(): void {
  const reset = selectPasswordReset(useDatabase())
  if (reset !== lastSeenReset) {
    throttle.clear()
    codes.clear()
  }
  lastSeenReset = reset
}

/** The account of these credentials, if the password is right. */
async function knownAccount({ email, password }: Credentials): Promise<AccountRow | undefined> {
  const account = selectAccount(useDatabase())
  const known = account && account.email.toLowerCase() === email.toLowerCase() ? account : undefined
  return (await verifyPassword(password, known?.password_hash)) ? known : undefined
}

/** Opens a session after the right password, in the caller's transaction; undefined for a wrong code. */
function admit(
  account: AccountRow,
  code: string | undefined,
  userAgent: string | undefined,
): NewSession | 'no code' | undefined {
  const database = useDatabase()
  // The password may have changed, and all sessions ended, during the check: the old password must not open a new session.
  if (selectAccount(database)?.password_hash !== account.password_hash) return undefined
  if (!hasSecondFactor(database)) return openSession(database, userAgent, false)
  if (code === undefined) return 'no code'
  if (codes.check(code, useCode)) return openSession(database, userAgent, true)
  log.warn('at a sign-in the password was right and the code wrong')
  return undefined
}

/** Names the second factors only to somebody who knows the password. */
function codeNeeded(host: string | undefined): AppError {
  const methods = methodsAt(useDatabase(), host)
  const hosts = new Set(selectPasskeys(useDatabase()).map((passkey) => passkey.host))
  const message =
    methods.length > 0
      ? 'a second factor is needed: send code, from the authenticator app or a recovery code, or sign in with a passkey'
      : `a passkey is needed, and those of this account are for ${[...hosts].join(', ')}: open the dashboard there`
  return new AppError('second_factor_required', message, { atSignIn: true, methods })
}

/** Changes the password if the current one is right. Returns true if it did. */
async function judgeChange(
  input: z.output<typeof PasswordChange>,
  keptSession: string,
): Promise<true | undefined> {
  const database = useDatabase()
  const account = selectAccount(database)
  if (!account || !(await verifyPassword(input.current_password, account.password_hash))) return undefined
  const passwordHash = await hashPassword(input.new_password)
  return setPassword(database, account.password_hash, passwordHash, keptSession) || undefined
}

/** Sets the hash and ends the other sessions if the hash still is `from`. Returns whether it was. */
function setPassword(database: Database, from: string, to: string, keptSession: string | null): boolean {
  return database.transaction(() => {
    if (!replacePasswordHash(database, from, to)) return false
    deleteOtherSessions(database, keptSession)
    return true
  })
}

function alreadySetUp(): AppError {
  return new AppError(
    'conflict',
    'this server already has an account: sign in, or run deployer reset-password on its host',
  )
}
