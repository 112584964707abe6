import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '#server/errors.ts'
import { BuildFailure } from '../builds/failure.ts'
import { withReader } from '../reader/reader.ts'
import { tooLarge } from './checkout-limits.ts'
import { WATCH_SIZE } from './jobs.ts'

export { isTooLarge, tooLarge } from './checkout-limits.ts'

/** What is cloned in less is not watched. */
const FIRST_LOOK_MS = 1_000

/** Watches what a directory takes of the disk until `signal` aborts; calls `onTooLarge` once when it passes the limit. */
export async function watchSize(
  directory: string,
  signal: AbortSignal,
  onTooLarge: (fault: BuildFailure) => void,
): Promise<void> {
  await delay(FIRST_LOOK_MS, undefined, { signal, ref: false }).catch(() => {})
  if (signal.aborted) return
  try {
    await withReader(signal, (reader) => reader.ask(WATCH_SIZE, { directory }))
    onTooLarge(tooLarge())
  } catch (error) {
    if (signal.aborted) return
    // Without the watch there is no limit, so its own fault ends the checkout as well.
    onTooLarge(error instanceof BuildFailure ? error : new BuildFailure(messageOf(error), { cause: error }))
  }
}
