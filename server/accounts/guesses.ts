import { useDatabase } from '../context.ts'
import { AppError } from '../errors.ts'
import { RateLimit } from '../work/rate-limit.ts'
import { isAppCode } from './second-factors/totp.ts'
import { selectSessions } from './store.ts'
import { Throttle } from './throttle.ts'

/**
 * Wrong codes of the authenticator app a day, after the right password or within a session. Three of a million hold at a time:
 * ten guesses in five minutes, day after day, would find one in a few months.
 */
const MAX_WRONG_CODES = 50
const DAY_MS = 24 * 3_600_000

/** Guesses at codes of the authenticator app, in one place from where they come. */
export class CodeGuesses {
  readonly #wrong = new RateLimit(MAX_WRONG_CODES, DAY_MS)

  /** Whether `use` takes a code; a wrong one is counted. Throws `too_many_attempts` without trying one of the app. */
  check(code: string, use: (code: string) => boolean): boolean {
    const seconds = Math.ceil(this.#wrong.waitMs / 1_000)
    if (isAppCode(code) && seconds > 0) {
      throw new AppError(
        'too_many_attempts',
        `${MAX_WRONG_CODES} codes were wrong within a day: use a passkey or a recovery code, or try again in ${seconds} seconds`,
        { retryAfterSeconds: seconds },
      )
    }
    const isRight = use(code)
    if (!isRight && isAppCode(code)) this.#wrong.count()
    return isRight
  }

  /** Forgets the wrong ones so far. */
  clear(): void {
    this.#wrong.clear()
  }
}

interface SessionGuesses {
  passwords: Throttle
  verifications: Throttle
  codes: CodeGuesses
}

/**
 * Guesses by session: a thief of one session can neither keep guessing nor stop the owner, who has another session.
 */
const bySession = new Map<string, SessionGuesses>()

/** The guesses of a session at the password and at codes. Drops those of sessions that have ended. */
export function guessesOf(sessionId: string): SessionGuesses {
  const open = new Set(selectSessions(useDatabase(), Date.now()).map(({ id }) => id))
  for (const id of bySession.keys()) if (!open.has(id)) bySession.delete(id)
  const guesses = bySession.get(sessionId) ?? {
    passwords: new Throttle('guesses at the password'),
    verifications: new Throttle('verifications'),
    codes: new CodeGuesses(),
  }
  bySession.set(sessionId, guesses)
  return guesses
}

/** Forgets the guesses at the password of every session, since there is another password. */
export function forgetPasswordGuesses(): void {
  for (const guesses of bySession.values()) guesses.passwords.clear()
}
