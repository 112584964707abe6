import type { CheckId, Finding, Outcome } from '#server/doctor/schema.ts'
import type { Facts } from './facts.ts'

/** What a check found, and the next step if there is one. */
export type Verdict = Pick<Finding, 'outcome' | 'message' | 'fix'>

/** One look at one thing. It changes nothing. */
export interface Check {
  id: CheckId
  title: string
  /** Without a running server, or without its records, it is skipped. */
  needs?: 'server' | 'records'
  /** The next step if it gives no result in time, or breaks. */
  fix: string
  /** `signal` aborts when the time of the check is over. Whatever it throws becomes the message of a failure. */
  look: (facts: Facts, signal: AbortSignal) => Verdict | Promise<Verdict>
}

export function passed(message: string): Verdict {
  return { outcome: 'passed', message, fix: null }
}

export function skipped(message: string): Verdict {
  return { outcome: 'skipped', message, fix: null }
}

export function warning(message: string, fix: string): Verdict {
  return { outcome: 'warning', message, fix }
}

export function failed(message: string, fix: string): Verdict {
  return { outcome: 'failed', message, fix }
}

const BADNESS: readonly Outcome[] = ['skipped', 'passed', 'warning', 'failed']

/** One verdict for several things: as bad as the worst, with the messages of all that are as bad. */
export function worstOf(verdicts: readonly Verdict[]): Verdict {
  const badness = ({ outcome }: Verdict) => BADNESS.indexOf(outcome)
  const worst = verdicts.reduce((left, right) => (badness(right) > badness(left) ? right : left))
  const messages = verdicts.filter(({ outcome }) => outcome === worst.outcome).map(({ message }) => message)
  return { ...worst, message: messages.join('; ') }
}

/** More names would not fit a line. */
const NAMES_SHOWN = 3

/** The first few of many names. */
export function listed(names: readonly string[]): string {
  const rest = names.length - NAMES_SHOWN
  return names.slice(0, NAMES_SHOWN).join(', ') + (rest > 0 ? ` and ${rest} more` : '')
}
