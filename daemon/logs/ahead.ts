import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import type { OutputLine } from '../engine/index.ts'

/** Chunks of at most 64 KiB. */
const CHUNKS_AHEAD = 32
/** Lines that are taken at once, but for those of the last chunk: they are compared with each other. */
const MOST_TAKEN = 4_000

/** Reads ahead in what comes live, so that lines bear the time of their arrival while others are joined with the log. */
export class Ahead {
  readonly #live: AsyncIterator<OutputLine[], void>
  #next: Promise<IteratorResult<OutputLine[], void>> | null = null

  constructor(live: AsyncGenerator<OutputLine[], void>) {
    const chunks = Readable.from(live, { highWaterMark: CHUNKS_AHEAD })
    // A failure is met by whoever reads on.
    chunks.on('error', () => {}).read(0)
    this.#live = chunks[Symbol.asyncIterator]()
  }

  /** What comes until it is enough, or until the time is up. */
  async take(
    timeoutMs: number,
    isEnough: (lines: OutputLine[]) => boolean = () => false,
  ): Promise<OutputLine[]> {
    const late = delay(timeoutMs, null, { ref: false })
    let lines: OutputLine[] = []
    while (!isEnough(lines) && lines.length < MOST_TAKEN) {
      this.#next ??= this.#live.next()
      const step = await Promise.race([this.#next.catch(() => null), late])
      if (!step || step.done) break
      this.#next = null
      lines = lines.concat(step.value)
    }
    return lines
  }

  /** What comes next after what was taken, whenever that is; none at the end. */
  async next(): Promise<OutputLine[]> {
    for (;;) {
      const step = await (this.#next ?? this.#live.next())
      this.#next = null
      if (step.done) return []
      if (step.value.length > 0) return step.value
    }
  }
}
