import type { z } from 'zod'
import { useContext, useDatabase } from '../context.ts'
import { isUniqueViolation, type Database } from '../database/index.ts'
import { AppError } from '../errors.ts'
import { newId, randomHex } from '../ids.ts'
import { logger } from '../log.ts'
import { announceCredentialsEnded } from './credentials.ts'
import { hashPassword, verifyPassword } from './passwords.ts'
import { toUser, type PasswordChange, type Setup, type SignIn, type User } from './schema.ts'
import { openSession } from './sessions.ts'
import { isSetupCode, removeSetupCode } from './setup-code.ts'
import {
  deleteOtherSessions,
  insertAccount,
  recordPasswordReset,
  replacePasswordHash,
  selectAccount,
  selectPasswordReset,
  selectSessions,
} from './store.ts'
import { Throttle } from './throttle.ts'

const log = logger('accounts')
/** Shared by all clients: there is only one account, and an attacker can easily change addresses. */
const throttle = new Throttle('sign-ins')
/**
 * Password changes, by the session that asks: a thief of one session can neither keep guessing nor stop the owner, who has
 * another session, from changing the password.
 */
const changeThrottles = new Map<string, Throttle>()
/** Distinguishes one reset from the next. */
const RESET_MARK_BYTES = 8
let lastSeenReset: string | undefined

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
    return openSession(context.database, userAgent)
  })
  removeSetupCode(context)
  log.info('the account was created')
  return session
}

/** Signs a browser in. Throws `invalid_credentials`, or `too_many_attempts` without checking the credentials. */
export async function signIn(
  input: z.output<typeof SignIn>,
  userAgent: string | undefined,
): Promise<NewSession> {
  reopenAfterReset()
  const session = await throttle.run(() => judge(input, userAgent))
  if (session) return session
  log.warn('a sign-in failed')
  throw new AppError('invalid_credentials', 'the e-mail or the password is wrong')
}

/**
 * Changes the password and ends every session but `keptSession`. Throws `invalid_credentials` when the current password is
 * wrong, or `too_many_attempts` without checking it.
 */
export async function changePassword(
  input: z.output<typeof PasswordChange>,
  keptSession: string,
): Promise<void> {
  const changes = changeThrottle(keptSession)
  if (!(await changes.run(() => judgeChange(input, keptSession)))) {
    log.warn('a password change failed: the current password was wrong')
    throw new AppError('invalid_credentials', 'current_password: is wrong')
  }
  changeThrottles.clear()
  announceCredentialsEnded()
  log.info('the password was changed; every other session has ended')
}

/**
 * Replaces a forgotten password, ends every session and lifts the limit on sign-ins. Returns the account's e-mail, or null
 * when there is no account.
 */
export async function replacePassword(database: Database, password: string): Promise<string | null> {
  const account = selectAccount(database)
  if (!account) return null
  const passwordHash = await hashPassword(password)
  // The owner of the host decides: this overrides a change made through the dashboard in the meantime.
  database.transaction(() => {
    setPassword(database, selectAccount(database)!.password_hash, passwordHash, null)
    recordPasswordReset(database, randomHex(RESET_MARK_BYTES))
  })
  return account.email
}

/** After a reset on the host, wrong guesses at the previous password no longer block sign-in. */
function reopenAfterReset(): void {
  const reset = selectPasswordReset(useDatabase())
  if (reset !== lastSeenReset) throttle.clear()
  lastSeenReset = reset
}

async function judge(
  input: z.output<typeof SignIn>,
  userAgent: string | undefined,
): Promise<NewSession | undefined> {
  const database = useDatabase()
  const account = selectAccount(database)
  const known = account && account.email.toLowerCase() === input.email.toLowerCase() ? account : undefined
  if (!(await verifyPassword(input.password, known?.password_hash))) return undefined
  return database.transaction(() => {
    // The password may have changed, and all sessions ended, during the check: the old password must not open a new session.
    if (selectAccount(database)?.password_hash !== known?.password_hash) return undefined
    return openSession(database, userAgent)
  })
}

/** Returns the throttle of a session, and drops those of sessions that have ended. */
function changeThrottle(session: string): Throttle {
  const open = new Set(selectSessions(useDatabase(), Date.now()).map(({ id }) => id))
  for (const id of changeThrottles.keys()) if (!open.has(id)) changeThrottles.delete(id)
  const changes = changeThrottles.get(session) ?? new Throttle('password changes')
  changeThrottles.set(session, changes)
  return changes
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
