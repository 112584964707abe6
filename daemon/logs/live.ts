import { setImmediate, setTimeout as delay } from 'node:timers/promises'
import type { LineCounts } from '#server/logs/system-lines.ts'
import type { OutputLine } from '../engine/index.ts'
import { STREAMS, type Stream } from './place.ts'

/** Lines that are held while the place of the attachment is looked for; a program that prints more is held back. */
const MAX_HELD_LINES = 50_000
const MAX_HELD_BYTES = 8 * 1024 * 1024

/** Between two looks whether something has come. */
const STEP_MS = 4

/** What comes from a container that the server is attached to, read ahead of who hands it on until its place is known. */
export class Live {
  /** Lines that have come of each stream since it was attached. */
  readonly arrived: LineCounts = { stdout: 0, stderr: 0 }
  readonly #source: AsyncGenerator<OutputLine[], void>
  readonly #latest: Record<Stream, number>
  #next: Promise<IteratorResult<OutputLine[], void>> | null = null
  #held: OutputLine[] = []
  #bytes = 0
  #isOver = false
  #isHandedOn = false
  #wake: (() => void) | null = null

  constructor(source: AsyncGenerator<OutputLine[], void>) {
    this.#source = source
    this.#latest = { stdout: performance.now(), stderr: performance.now() }
    void this.#readAhead()
  }

  /** Whether nothing comes any more. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** The lines that are held, of one stream. */
  held(stream: Stream): OutputLine[] {
    return this.#held.filter((line) => line.stream === stream)
  }

  /** The streams whose first line since it was attached comes next, of which the beginning may have come before. */
  cut(known: LineCounts): Stream[] {
    return STREAMS.filter((stream) => this.arrived[stream] - this.held(stream).length + known[stream] === 0)
  }

  /** Lets go of the lines that are held. */
  forget(): void {
    this.#held = []
    this.#bytes = 0
    this.#wake?.()
  }

  /** For how long nothing has come of a stream. */
  silentMs(stream: Stream): number {
    return performance.now() - this.#latest[stream]
  }

  /** Waits until nothing has come for so long, for so long at most. */
  async silence(silentMs: number, atMostMs: number): Promise<void> {
    const until = performance.now() + atMostMs
    const missing = () => silentMs - Math.min(...STREAMS.map((stream) => this.silentMs(stream)))
    while (missing() > 0 && performance.now() < until && !this.#isOver) {
      await pause(missing())
    }
  }

  /** Waits for so long, or until one more line comes of one of the streams. */
  async stillness(streams: readonly Stream[], forMs: number): Promise<void> {
    const until = performance.now() + forMs
    const count = () => streams.reduce((sum, stream) => sum + this.arrived[stream], 0)
    const before = count()
    do await pause(Math.min(STEP_MS, until - performance.now()))
    while (count() === before && performance.now() < until && !this.#isOver)
  }

  /** What was held, without so many first lines of each stream, and all that comes. Throws as the attachment does. */
  async *rest(known: LineCounts): AsyncGenerator<OutputLine[]> {
    this.#isHandedOn = true
    this.#wake?.()
    const left = { ...known }
    const isNew = ({ stream }: OutputLine) => left[stream] === 0 || left[stream]-- < 0
    const held = this.#held.filter(isNew)
    this.forget()
    if (held.length > 0) yield held
    for (let step = await this.#step(); !step.done; step = await this.#step()) {
      const isKnown = left.stdout + left.stderr > 0
      const lines = isKnown ? step.value.filter(isNew) : step.value
      if (lines.length > 0) yield lines
    }
  }

  async #readAhead(): Promise<void> {
    try {
      while (!this.#isHandedOn) {
        this.#next ??= this.#source.next()
        const step = await this.#next
        // Who hands it on has it already.
        if (this.#isHandedOn) return
        this.#next = null
        if (step.done) break
        this.#hold(step.value)
        if (this.#held.length > MAX_HELD_LINES || this.#bytes > MAX_HELD_BYTES)
          await new Promise<void>((resolve) => (this.#wake = resolve))
      }
      this.#isOver = !this.#isHandedOn
    } catch {
      this.#isOver = true
    }
  }

  #hold(lines: readonly OutputLine[]): void {
    for (const line of lines) {
      this.#held.push(line)
      this.#bytes += line.line.length
      this.arrived[line.stream]++
      this.#latest[line.stream] = performance.now()
    }
  }

  async #step(): Promise<IteratorResult<OutputLine[], void>> {
    const next = this.#next ?? this.#source.next()
    this.#next = null
    return next
  }
}

/** What has come by the end of it is read when it ends. */
async function pause(milliseconds: number): Promise<void> {
  await delay(Math.max(1, milliseconds))
  await setImmediate()
  await setImmediate()
}
