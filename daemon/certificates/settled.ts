import { setTimeout as delay } from 'node:timers/promises'
import { AcmeProblem, AuthorityUnavailable } from './problem.ts'

/** Interval between two polls: doubled each time, up to LONGEST_MS. */
const FIRST_MS = 250
const LONGEST_MS = 5_000
/** No poll begins after this. */
const LIMIT_MS = 90_000

/** The fields of an order or an authorization (RFC 8555 section 7.1.6) that polling reads. */
interface Polled {
  status: string
  error?: object
}

/**
 * Polls an order or an authorization until the authority has processed it. A poll that fails is repeated, at the time the
 * authority asks for if that is within the limit. Throws the last error, or why the authority refuses.
 */
export async function settled<Item extends Polled>(look: () => Promise<Item>): Promise<Item> {
  const until = performance.now() + LIMIT_MS
  for (let wait = FIRST_MS; ; wait = Math.min(wait * 2, LONGEST_MS)) {
    let pause = wait
    let fault = new Error(`the certificate authority has not decided within ${LIMIT_MS / 1000} s`)
    try {
      const item = await look()
      if (item.status === 'valid' || item.status === 'ready') return item
      if (item.status !== 'pending' && item.status !== 'processing') throw new Refused(reasonOf(item))
    } catch (error) {
      if (error instanceof Refused) throw error
      fault = error as Error
      pause = Math.max(wait, retryAfterOf(error))
    }
    if (performance.now() + pause > until) throw fault
    await delay(pause)
  }
}

class Refused extends Error {}

/** Returns in how many milliseconds an authority asks to be called again; 0 if it did not say. */
export function retryAfterOf(error: unknown): number {
  const isKnown = error instanceof AcmeProblem || error instanceof AuthorityUnavailable
  return (isKnown && error.retryAfterMs) || 0
}

function reasonOf({ status, error }: Polled): string {
  const { detail } = (error ?? {}) as { detail?: unknown }
  return typeof detail === 'string' ? detail : `the certificate authority reports the status ${status}`
}
