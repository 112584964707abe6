import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '#server/errors.ts'
import { BuildFailure } from '#plans/index.ts'
import { withReader } from '../reader/reader.ts'
import { TOO_LARGE } from './checkout-limits.ts'
import type { Filling } from './directory-size.ts'
import { WATCH_SIZE } from './reader-calls.ts'

/** Work that takes less time is not watched. */
const FIRST_LOOK_MS = 1_000

/** Thrown when a directory was filled with more than a checkout may use. */
export class Overfull extends BuildFailure {
  constructor() {
    super(TOO_LARGE)
  }
}

/**
 * Runs work while the directory that it fills is watched, with a signal that also aborts when the directory is larger than a
 * checkout may be. Throws Overfull in that case, else what the work throws.
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
    // Without the watch there is no limit, so its own failure ends the work too.
    onFault(error instanceof BuildFailure ? error : new BuildFailure(messageOf(error), { cause: error }))
  }
}
