import { sizeText } from '../figures.ts'
import type { Output } from '../../output.ts'

const DRAW_EVERY_MS = 100
const BAR_WIDTH = 24
const DEFAULT_WIDTH = 80
/** Before that the speed says nothing of the time left. */
const STEADY_S = 1

/** Moves to the start of the line and clears it (ECMA-48, EL). */
const CLEAR_LINE = '\r\u001b[K'

/** Reports on standard error how far something of a known size is: a bar on a terminal, else nothing until its end. */
export class Progress {
  readonly #out: Output
  what: string
  readonly #total: number
  readonly #began = performance.now()
  #done = 0
  #drawn = -Infinity

  constructor(out: Output, what: string, total: number) {
    this.#out = out
    this.what = what
    this.#total = total
  }

  add(bytes: number): void {
    this.#done += bytes
    const now = performance.now()
    if (!this.#out.mayDraw || now - this.#drawn < DRAW_EVERY_MS) return
    this.#drawn = now
    const width = process.stderr.columns || DEFAULT_WIDTH
    process.stderr.write(`${CLEAR_LINE}${this.#text().slice(0, width - 1)}`)
  }

  /** Removes the bar. */
  clear(): void {
    if (this.#drawn === -Infinity) return
    this.#drawn = -Infinity
    process.stderr.write(CLEAR_LINE)
  }

  get seconds(): number {
    return (performance.now() - this.#began) / 1_000
  }

  #text(): string {
    // A file may have grown since it was found.
    const part = this.#total === 0 ? 1 : Math.min(this.#done / this.#total, 1)
    const filled = Math.floor(part * BAR_WIDTH)
    const bar = '#'.repeat(filled).padEnd(BAR_WIDTH, '-')
    const speed = this.#done / Math.max(this.seconds, 0.001)
    const figures = [
      `${sizeText(this.#done)} of ${sizeText(this.#total)}`,
      `${sizeText(Math.round(speed))}/s`,
      ...(this.seconds < STEADY_S || speed === 0
        ? []
        : [`${Math.ceil((this.#total * (1 - part)) / speed)} s left`]),
    ]
    return `${this.what} [${bar}] ${figures.join(', ')}`
  }
}
