import { triggerRef, type ShallowRef } from 'vue'
import type { LogLine } from './line.ts'

/** Lines kept in the page; the oldest go first. */
const MAX_LINES = 100_000
/** Lines are shown in batches: one paint for many. */
const BATCH_MS = 80
/** How long a log that is read again has to catch up with the lines shown before, until it is shown as it is. */
const CATCH_UP_MS = 3_000

/**
 * One reading of a log from its first line. Its lines are shown in batches, and take the place of those of the reading
 * before once they have caught up with them.
 */
export class LogReading {
  readonly #lines: ShallowRef<LogLine[]>
  readonly #signal: AbortSignal
  /** The time of the last line shown before. */
  readonly #known: string | undefined
  #isBehind: boolean
  #isShown = false
  #batch: LogLine[] = []
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(lines: ShallowRef<LogLine[]>, signal: AbortSignal) {
    this.#lines = lines
    this.#signal = signal
    this.#known = lines.value.at(-1)?.ts
    this.#isBehind = this.#known !== undefined
  }

  add(line: LogLine): void {
    this.#batch.push(line)
    if (this.#isBehind && line.ts >= this.#known!) {
      this.#isBehind = false
      this.#stopWaiting()
    }
    this.#timer ??= setTimeout(() => this.#show(), this.#isBehind ? CATCH_UP_MS : BATCH_MS)
  }

  /** Shows the last lines. Those of a log that was cut off before they caught up do not replace the old ones. */
  end(isWhole: boolean): void {
    if (this.#isBehind && !this.#isShown && !isWhole) this.#stopWaiting()
    else this.#show()
  }

  #show(): void {
    this.#stopWaiting()
    if (this.#signal.aborted) return
    if (this.#isShown) this.#lines.value.push(...this.#batch)
    else this.#lines.value = this.#batch
    this.#isShown = true
    this.#batch = []
    const { length } = this.#lines.value
    if (length > MAX_LINES) this.#lines.value.splice(0, length - MAX_LINES)
    triggerRef(this.#lines)
  }

  #stopWaiting(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}
