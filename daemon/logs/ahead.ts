import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import type { OutputLine } from '../engine/index.ts'

/** Chunks of at most 64 KiB. */
const CHUNKS_AHEAD = 32
/** Max lines taken at once, not counting the last chunk, because they are compared with each other. */
const MAX_TAKEN = 4_000

/** Reads ahead in live output, so that lines get the time of their arrival while earlier ones are joined with the log. */
export class Ahead {
  readonly #live: AsyncIterator<OutputLine[], void>
  #next: Promise<IteratorResult<OutputLine[], void>> | null = null

  constructor(live: AsyncGenerator<OutputLine[], void>) {
    const chunks = Readable.from(live, { highWaterMark: CHUNKS_AHEAD })
    // The next read reports a failure.
    chunks.on('error', () => {}).read(0)
    this.#live = chunks[Symbol.asyncIterator]()
  }

  /** Returns the lines that arrive until there are enough, or until the time is up. */
  async take(
    timeoutMs: number,
    isEnough: (lines: OutputLine[]) => boolean = () => false,
  ): Promise<OutputLine[]> {
    const late = delay(timeoutMs, null, { ref: false })
    let lines: OutputLine[] = []
    while (!isEnough(lines) && lines.length < MAX_TAKEN) {
      this.#next ??= this.#live.next()
      const step = await Promise.race([this.#next.catch(() => null), late])
      if (!step || step.done) break
      this.#next = null
      lines = lines.concat(step.value)
    }
    return lines
  }

  /** Waits for the next lines after those taken; an empty array is the end. */
  async next(): Promise<OutputLine[]> {
    for (;;) {
      const step = await (this.#next ?? this.#live.next())
      this.#next = null
      if (step.done) return []
      if (step.value.length > 0) return step.value
    }
  }
}
