import type { Finding } from '#server/doctor/schema.ts'
import { messageOf } from '#server/errors.ts'
import { plainLine } from '#server/text/plain-line.ts'
import { withoutSecrets } from '#server/text/redaction.ts'
import { failed, skipped, type Check, type Verdict } from './check.ts'
import type { Facts } from './facts.ts'

/** All checks run at once, so that this is the time of a whole examination, too. */
const CHECK_MS = 2_500

/** A message is a sentence for people; texts of an engine or of DNS may be longer. */
const MAX_MESSAGE_CHARACTERS = 600

/** Runs checks at once and returns what they found, in their order. Each has `limitMs`. Never throws. */
export function examine(
  checks: readonly Check[],
  facts: Facts,
  limitMs: number = CHECK_MS,
): Promise<Finding[]> {
  return Promise.all(
    checks.map(async (check) => {
      const { outcome, message, fix } = await verdictOf(check, facts, limitMs)
      return {
        id: check.id,
        title: check.title,
        outcome,
        message: withoutSecrets(plainLine(message, MAX_MESSAGE_CHARACTERS)),
        fix,
      }
    }),
  )
}

async function verdictOf(check: Check, facts: Facts, limitMs: number): Promise<Verdict> {
  if (check.needs === 'server' && facts.world === null) return skipped(facts.serverFault)
  if (check.needs === 'records' && facts.recordsFault !== null) return skipped(facts.recordsFault)
  const limit = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Verdict>((resolve) => {
    timer = setTimeout(() => {
      resolve(failed(`there was no result within ${limitMs / 1_000} s`, check.fix))
      limit.abort()
    }, limitMs)
  })
  // Looks after an await, so that one that throws at once is handled here, too.
  const look = async (): Promise<Verdict> => check.look(facts, limit.signal)
  try {
    return await Promise.race([look(), late])
  } catch (error) {
    return failed(messageOf(error), check.fix)
  } finally {
    clearTimeout(timer)
  }
}
