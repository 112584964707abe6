import { monotonicMs } from '../clock.ts'
import { Allowance } from './allowance.ts'
import { ConnectionFault, ERROR } from './protocol.ts'

/**
 * Streams that end with RST_STREAM, by either side: opening and canceling costs us an upstream each time (CVE-2023-44487).
 */
const RESETS = { max: 200, perSecond: 50 }
/**
 * Frames that do nothing or only ask for an answer: PING, SETTINGS and their acknowledgements, PRIORITY, GOAWAY, empty
 * DATA, tiny WINDOW_UPDATE, unknown ones.
 */
const IDLE_FRAMES = { max: 1_000, perSecond: 200 }

/** Limits what is cheap for a client and expensive for us. */
export class Abuse {
  /** Created on first use: max clients do neither. */
  #resets: Allowance | null = null
  #idleFrames: Allowance | null = null

  /** Counts a stream that was reset. Throws ConnectionFault at the limit. */
  reset(): void {
    this.#resets ??= new Allowance(RESETS.max, RESETS.perSecond)
    if (!this.#resets.take(monotonicMs()))
      throw new ConnectionFault(ERROR.enhanceYourCalm, 'too many streams are reset')
  }

  /** Counts a frame that does nothing. Throws ConnectionFault at the limit. */
  idleFrame(): void {
    this.#idleFrames ??= new Allowance(IDLE_FRAMES.max, IDLE_FRAMES.perSecond)
    if (!this.#idleFrames.take(monotonicMs()))
      throw new ConnectionFault(ERROR.enhanceYourCalm, 'too many frames that do nothing')
  }
}
