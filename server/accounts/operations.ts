import type { z } from 'zod'
import { useContext, useDatabase } from '../context.ts'
import { isUniqueViolation, type Database } from '../database/index.ts'
import { AppError } from '../errors.ts'
import { newId, randomHex } from '../ids.ts'
import { logger } from '../log.ts'
import { tellCredentialsEnded } from './credentials.ts'
import { hashPassword, verifyPassword } from './passwords.ts'
import { toUser, type PasswordChange, type Setup, type SignIn, type User } from './schema.ts'
import { openSession } from './sessions.ts'
import { isSetupCode, removeSetupCode } from './setup-code.ts'
import {
  deleteOtherSessions,
  insertAccount,
  notePasswordReset,
  replacePasswordHash,
  selectAccount,
  selectPasswordReset,
  selectSessions,
} from './store.ts'
import { Throttle } from './throttle.ts'

const log = logger('accounts')
/** Counted over everyone: with one account there is no one else to spare, and an address is cheap to change. */
const throttle = new Throttle('sign-ins')
/**
 * Changes of the password, by the session that asks: whoever took one may neither guess on nor keep the owner, who has
 * another one, from changing it.
 */
const changeThrottles = new Map<string, Throttle>()
/** Tells one reset from another. */
const RESET_MARK_BYTES = 8
let heededReset: string | undefined

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

/** Makes the account and signs its browser in. Throws `conflict` when there is one, `invalid_credentials` for a wrong code. */
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
  log.info('the account was made')
  return session
}

/** Signs a browser in. Throws `invalid_credentials`, or `too_many_attempts` without looking at them. */
export async function signIn(
  input: z.output<typeof SignIn>,
  userAgent: string | undefined,
): Promise<NewSession> {
  heedReset()
  const session = await throttle.run(() => judge(input, userAgent))
  if (session) return session
  log.warn('a sign-in failed')
  throw new AppError('invalid_credentials', 'the e-mail or the password is wrong')
}

/**
 * Changes the password and ends every session but `keptSession`. Throws `invalid_credentials` when the current one is wrong,
 * or `too_many_attempts` without looking at it.
 */
export async function changePassword(
  input: z.output<typeof PasswordChange>,
  keptSession: string,
): Promise<void> {
  const changes = changeThrottle(keptSession)
  if (!(await changes.run(() => judgeChange(input, keptSession)))) {
    log.warn('a change of the password failed: the current one was wrong')
    throw new AppError('invalid_credentials', 'current_password: is wrong')
  }
  changeThrottles.clear()
  tellCredentialsEnded()
  log.info('the password was changed; every other session has ended')
}

/** Replaces a forgotten password, ends every session and opens sign-in again. Answers the account's e-mail, or null when there is no account. */
export async function replacePassword(database: Database, password: string): Promise<string | null> {
  const account = selectAccount(database)
  if (!account) return null
  const passwordHash = await hashPassword(password)
  // Who owns the host decides: a change made through the dashboard in the meantime is overruled.
  database.transaction(() => {
    setPassword(database, selectAccount(database)!.password_hash, passwordHash, null)
    notePasswordReset(database, randomHex(RESET_MARK_BYTES))
  })
  return account.email
}

/** Who owns the host has just chosen the password: guesses at the one before close the door to nobody. */
function heedReset(): void {
  const reset = selectPasswordReset(useDatabase())
  if (reset !== heededReset) throttle.clear()
  heededReset = reset
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
    // The password may have been changed while this one was judged, and its old sessions ended: no new one may slip in.
    if (selectAccount(database)?.password_hash !== known?.password_hash) return undefined
    return openSession(database, userAgent)
  })
}

/** The throttle of a session; those of sessions that have ended go. */
function changeThrottle(session: string): Throttle {
  const open = new Set(selectSessions(useDatabase(), Date.now()).map(({ id }) => id))
  for (const id of changeThrottles.keys()) if (!open.has(id)) changeThrottles.delete(id)
  const changes = changeThrottles.get(session) ?? new Throttle('changes of the password')
  changeThrottles.set(session, changes)
  return changes
}

/** Changes the password when the current one is right; answers true when it has. */
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

/** Sets the hash if it still is `from`, and ends the sessions with it; answers whether it was. */
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
    'this server has an account already: sign in, or use deployer reset-password on its host',
  )
}
