import { setTimeout as delay } from 'node:timers/promises'
import { AcmeProblem, AuthorityAway } from './problem.ts'

/** Between two looks: twice as long each time, up to the second. */
const FIRST_MS = 250
const LONGEST_MS = 5_000
/** No look begins later. */
const LIMIT_MS = 90_000

/** An order or an authorization (RFC 8555 section 7.1.6), as far as it is waited for. */
interface Judged {
  status: string
  error?: object
}

/**
 * Looks at an order or an authorization until its authority has gone on with it. A look that fails is made again, when the
 * authority says to if that is in time. Throws what kept it, or why the authority refuses.
 */
export async function settled<Item extends Judged>(look: () => Promise<Item>): Promise<Item> {
  const until = performance.now() + LIMIT_MS
  for (let wait = FIRST_MS; ; wait = Math.min(wait * 2, LONGEST_MS)) {
    let pause = wait
    let fault = new Error(`the certificate authority has not judged within ${LIMIT_MS / 1000} s`)
    try {
      const item = await look()
      if (item.status === 'valid' || item.status === 'ready') return item
      if (item.status !== 'pending' && item.status !== 'processing') throw new Refused(reasonOf(item))
    } catch (error) {
      if (error instanceof Refused) throw error
      fault = error as Error
      pause = Math.max(wait, laterBy(error))
    }
    if (performance.now() + pause > until) throw fault
    await delay(pause)
  }
}

class Refused extends Error {}

/** In how many milliseconds an authority says to ask again; 0 where it does not. */
export function laterBy(error: unknown): number {
  const isSaid = error instanceof AcmeProblem || error instanceof AuthorityAway
  return (isSaid && error.retryAfterMs) || 0
}

function reasonOf({ status, error }: Judged): string {
  const { detail } = (error ?? {}) as { detail?: unknown }
  return typeof detail === 'string' ? detail : `the certificate authority says that it is ${status}`
}
