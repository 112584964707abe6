import { triggerRef, type ShallowRef } from 'vue'
import type { DeployStep } from '../api/types.ts'
import type { LogLine } from './line.ts'

/** Lines are shown in batches: one paint for many. */
const BATCH_MS = 80
/** How long a log that is read again has to catch up with the lines shown before, until it is shown as it is. */
const CATCH_UP_MS = 3_000

/** What is read of a log. */
interface ReadLog {
  lines: ShallowRef<LogLine[]>
  steps: ShallowRef<DeployStep[]>
  /** Lines kept in the page; the oldest go first. */
  maxLines: number
}

/**
 * One reading of a log from its first line. Its lines are shown in batches, and take the place of those of the reading
 * before once they have caught up with them.
 */
export class LogReading {
  readonly #lines: ShallowRef<LogLine[]>
  readonly #steps: ShallowRef<DeployStep[]>
  readonly #maxLines: number
  readonly #signal: AbortSignal
  /** The time of the last line shown before. */
  readonly #known: string | undefined
  #isBehind: boolean
  #isShown = false
  #batch: LogLine[] = []
  readonly #begun = new Map<string, DeployStep>()
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor({ lines, steps, maxLines }: ReadLog, signal: AbortSignal) {
    this.#lines = lines
    this.#steps = steps
    this.#maxLines = maxLines
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
    this.#showLater()
  }

  /** Takes a step that has begun or ended. */
  addStep(step: DeployStep): void {
    this.#begun.set(step.id, step)
    this.#showLater()
  }

  /** Shows the last lines. Those of a log that was cut off before they caught up do not replace the old ones. */
  end(isWhole: boolean): void {
    if (this.#isBehind && !this.#isShown && !isWhole) this.#stopWaiting()
    else this.#show()
  }

  #showLater(): void {
    this.#timer ??= setTimeout(() => this.#show(), this.#isBehind ? CATCH_UP_MS : BATCH_MS)
  }

  #show(): void {
    this.#stopWaiting()
    if (this.#signal.aborted) return
    if (this.#isShown) this.#lines.value.push(...this.#batch)
    else this.#lines.value = this.#batch
    this.#isShown = true
    this.#batch = []
    const { length } = this.#lines.value
    if (length > this.#maxLines) this.#lines.value.splice(0, length - this.#maxLines)
    this.#steps.value = [...this.#begun.values()]
    triggerRef(this.#lines)
  }

  #stopWaiting(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}
