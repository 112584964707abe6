import { setTimeout as delay } from 'node:timers/promises'

const EVERY_MS = 50
/** A longer wait is a hang, even on a machine whose disk stalls for a minute. */
const LIMIT_MS = 180_000

/**
 * Waits until `condition` returns something true, and returns that. An error counts as not yet. Throws after
 * `limitMs`, naming `what` and the last error; a test names a limit only if something else would come later by itself.
 */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  what: string,
  limitMs: number = LIMIT_MS,
): Promise<Exclude<T, false | null | undefined | 0 | ''>> {
  const deadline = performance.now() + limitMs
  let last: unknown
  for (;;) {
    try {
      const value = await condition()
      if (value) return value as Exclude<T, false | null | undefined | 0 | ''>
    } catch (error) {
      last = error
    }
    if (performance.now() > deadline) {
      throw new Error(`waited ${limitMs / 1000} s in vain for ${what}`, { cause: last })
    }
    await delay(EVERY_MS)
  }
}
