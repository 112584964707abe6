import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '#server/errors.ts'
import { BuildFailure } from '#plans/index.ts'
import { withReader } from '../reader/reader.ts'
import { TOO_LARGE } from './checkout-limits.ts'
import type { Filling } from './directory-size.ts'
import { WATCH_SIZE } from './reader-calls.ts'

/** What is cloned in less is not watched. */
const FIRST_LOOK_MS = 1_000

/** The directory of a work was filled with more than a checkout may take. */
export class Overfull extends BuildFailure {
  constructor() {
    super(TOO_LARGE)
  }
}

/**
 * Has a work done while what it fills is watched, under a signal that ends it as well when the directory holds more than
 * a checkout may. Throws Overfull then, else what the work throws.
 */
export async function withinSize<T>(
  filling: Filling,
  signal: AbortSignal,
  work: (limited: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = new AbortController()
  const limited = AbortSignal.any([signal, ending.signal])
  const watching = watch(filling, limited, (fault) => ending.abort(fault))
  try {
    return await work(limited)
  } finally {
    ending.abort()
    await watching
  }
}

async function watch(
  filling: Filling,
  signal: AbortSignal,
  onFault: (fault: BuildFailure) => void,
): Promise<void> {
  await delay(FIRST_LOOK_MS, undefined, { signal, ref: false }).catch(() => {})
  if (signal.aborted) return
  try {
    await withReader(signal, (reader) => reader.ask(WATCH_SIZE, filling))
    onFault(new Overfull())
  } catch (error) {
    if (signal.aborted) return
    // Without the watch there is no limit, so its own fault ends the work as well.
    onFault(error instanceof BuildFailure ? error : new BuildFailure(messageOf(error), { cause: error }))
  }
}
