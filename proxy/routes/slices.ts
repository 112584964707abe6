import { setImmediate } from 'node:timers/promises'
import { monotonicMs } from '../clock.ts'

/** How long requests wait for one slice of work at most, give or take some pieces of it; their answers wait for another. */
const SLICE_MS = 0.25

/** Pieces of work between two looks at the clock. */
const PIECES = 8

/** Does work that is nobody's request piece by piece, giving way to requests in between. */
export async function inSlices(work: Iterator<void>): Promise<void> {
  for (;;) {
    const until = monotonicMs() + SLICE_MS
    do {
      for (let piece = 0; piece < PIECES; piece++) if (work.next().done) return
    } while (monotonicMs() < until)
    await setImmediate()
  }
}
