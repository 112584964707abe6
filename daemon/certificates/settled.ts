import { setTimeout as delay } from 'node:timers/promises'
import { AcmeProblem, AuthorityAway } from './problem.ts'

/** Between two looks; the last ones come 5 s apart, 90 s in all. */
const FIRST_MS = 250
const LONGEST_MS = 5_000
const LOOKS = 22

/** An order or an authorization (RFC 8555 section 7.1.6), as far as it is waited for. */
interface Judged {
  status: string
  error?: object
}

/**
 * Looks at an order or an authorization until its authority has gone on with it. A look that fails is made again, unless
 * the authority says to come later than that. Throws what kept it, or why the authority refuses.
 */
export async function settled<Item extends Judged>(look: () => Promise<Item>): Promise<Item> {
  for (let looks = 1; ; looks++) {
    const isLast = looks === LOOKS
    const item = await look().catch((error: unknown) => {
      if (isLast || saysLater(error)) throw error
      return null
    })
    if (item?.status === 'valid' || item?.status === 'ready') return item
    if (item?.status === 'invalid') throw new Error(reasonOf(item))
    if (isLast) throw new Error('the certificate authority has not judged within 90 s')
    await delay(Math.min(FIRST_MS * 2 ** (looks - 1), LONGEST_MS))
  }
}

function saysLater(error: unknown): boolean {
  const isSaid = error instanceof AcmeProblem || error instanceof AuthorityAway
  return isSaid && error.retryAfterMs !== null && error.retryAfterMs > LONGEST_MS
}

function reasonOf({ error }: Judged): string {
  const { detail } = (error ?? {}) as { detail?: unknown }
  return typeof detail === 'string' ? detail : 'the certificate authority has refused it without a reason'
}
