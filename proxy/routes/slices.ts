import { setImmediate } from 'node:timers/promises'
import { monotonicMs } from '../clock.ts'

/** How long requests wait for one slice of work at most, plus or minus a few pieces; their answers wait for another one. */
const SLICE_MS = 0.25

/** Pieces of work between two looks at the clock. */
const PIECES = 8

/** Does background work piece by piece, giving way to requests in between. */
export async function inSlices(work: Iterator<void>): Promise<void> {
  for (;;) {
    const until = monotonicMs() + SLICE_MS
    do {
      for (let piece = 0; piece < PIECES; piece++) if (work.next().done) return
    } while (monotonicMs() < until)
    await setImmediate()
  }
}
