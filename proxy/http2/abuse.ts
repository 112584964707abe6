import { monotonicMs } from '../clock.ts'
import { Allowance } from './allowance.ts'
import { ConnectionFault, ERROR } from './protocol.ts'

/** Streams that end by RST_STREAM, whoever sends it: opening and canceling costs us an upstream each (CVE-2023-44487). */
const RESETS = { most: 200, perSecond: 50 }
/**
 * Frames that do nothing, or ask for an answer: PING, SETTINGS and what acknowledges them, PRIORITY, GOAWAY, empty DATA, tiny
 * WINDOW_UPDATE, unknown ones.
 */
const IDLE_FRAMES = { most: 1_000, perSecond: 200 }

/** What one client may do that costs more here than there. */
export class Abuse {
  /** Made for the first: most clients do neither. */
  #resets: Allowance | null = null
  #idleFrames: Allowance | null = null

  /** A stream was reset. Throws ConnectionFault when it is one too many. */
  reset(): void {
    this.#resets ??= new Allowance(RESETS.most, RESETS.perSecond)
    if (!this.#resets.take(monotonicMs()))
      throw new ConnectionFault(ERROR.enhanceYourCalm, 'streams are reset too often')
  }

  /** A frame that does nothing has come. Throws ConnectionFault when it is one too many. */
  idleFrame(): void {
    this.#idleFrames ??= new Allowance(IDLE_FRAMES.most, IDLE_FRAMES.perSecond)
    if (!this.#idleFrames.take(monotonicMs()))
      throw new ConnectionFault(ERROR.enhanceYourCalm, 'too many frames that do nothing')
  }
}
