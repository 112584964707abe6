import type { AccessLine, AccessLines } from '../protocol.ts'

/** Bytes of lines that one answer to the supervisor has: requests wait while it is written. */
const BATCH_BYTES = 256 * 1024
/** Bytes of lines that wait for a control plane that is away, or comes in its next turn: about 20,000 requests. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024
/** What a line takes besides its path and user agent. */
const LINE_BYTES = 256

/**
 * The lines of access logs that one worker has for the control plane. Those that find no room are counted instead, so the
 * lines that are kept come before the gap.
 */
export class AccessLog {
  /** All are full but the last. */
  #batches: AccessLine[][] = [[]]
  #lastBytes = 0
  #waiting = 0
  #lost: Record<string, number> = {}

  /** Adds a line. */
  add(line: AccessLine): void {
    const service = line[0]
    if (this.#waiting >= MAX_WAITING_BYTES) {
      this.#lost[service] = (this.#lost[service] ?? 0) + 1
      return
    }
    if (this.#lastBytes >= BATCH_BYTES) {
      this.#batches.push([])
      this.#lastBytes = 0
    }
    this.#batches.at(-1)!.push(line)
    const bytes = bytesOf(line)
    this.#lastBytes += bytes
    this.#waiting += bytes
  }

  get isEmpty(): boolean {
    return this.#waiting === 0 && Object.keys(this.#lost).length === 0
  }

  /** Hands out the oldest lines; what was lost comes after the last of them. */
  take(): AccessLines {
    const lines = this.#batches.shift()!
    if (this.#batches.length > 0) {
      for (const line of lines) this.#waiting -= bytesOf(line)
      return { lines, lost: {}, more: true }
    }
    const lost = this.#lost
    this.#batches = [[]]
    this.#lastBytes = this.#waiting = 0
    this.#lost = {}
    return { lines, lost, more: false }
  }
}

function bytesOf(line: AccessLine): number {
  return LINE_BYTES + line[4].length + (line[9]?.length ?? 0)
}
