import { setImmediate } from 'node:timers/promises'
import { clean } from './clean-text.ts'
import { EXIT } from './fault.ts'

interface Kind {
  isJson: boolean
  isQuiet: boolean
  /** Whether colours are forbidden. */
  isPlain: boolean
}

const COLORS = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, cyan: 36 } as const
export type Color = keyof typeof COLORS

/** Where a command prints: answers to standard output, everything else to standard error. */
export class Output {
  readonly isJson: boolean
  readonly isQuiet: boolean
  readonly #isPlain: boolean

  constructor({ isJson, isQuiet, isPlain }: Kind) {
    this.isJson = isJson
    this.isQuiet = isQuiet
    this.#isPlain = isPlain
  }

  /** Whether standard output is a terminal, for people. */
  get isTerminal(): boolean {
    return process.stdout.isTTY
  }

  /** Whether a bar or a spinner may be drawn on standard error. */
  get mayDraw(): boolean {
    return (
      process.stderr.isTTY && !this.isJson && !this.isQuiet && !process.env.CI && process.env.TERM !== 'dumb'
    )
  }

  /** Prints a line of the answer. */
  line(text: string): void {
    process.stdout.write(`${text}\n`)
  }

  /** Prints whole lines of the answer at once. */
  text(lines: string): void {
    process.stdout.write(lines)
  }

  /** Prints a document of the answer: the API's own, indented. */
  json(value: unknown): void {
    this.line(JSON.stringify(value, null, 2))
  }

  /** Prints one of many documents, in one line. */
  jsonLine(value: unknown): void {
    this.line(JSON.stringify(value))
  }

  /** Prints what an action has done: one line for people, the API's answer for programs, `{}` where it has none. */
  done(text: string, answer: unknown = {}): void {
    if (this.isJson) this.json(answer ?? {})
    else this.line(text)
  }

  /** Prints a note on standard error; none for programs that read JSON. */
  note(text: string): void {
    if (!this.isJson && !this.isQuiet) process.stderr.write(`${text}\n`)
  }

  /** Prints text of others, such as a line of a log, on standard error. */
  foreign(text: string): void {
    process.stderr.write(`${this.cleaned(text, process.stderr)}\n`)
  }

  /**
   * Resolves when standard output takes more: at once unless its reader is slow. Ends the process if it takes nothing any more;
   * that was reported when it happened.
   */
  async room(): Promise<void> {
    const { stdout } = process
    if (stdout.errored) {
      await setImmediate()
      process.exit(EXIT.failed)
    }
    if (!stdout.writableNeedDrain) return
    await new Promise<void>((resolve) => {
      const done = (): void => {
        stdout.off('drain', done).off('error', done)
        resolve()
      }
      stdout.once('drain', done).once('error', done)
    })
  }

  /** Text of others without control characters; colours stay where colours are on. */
  cleaned(text: string, stream: NodeJS.WriteStream = process.stdout): string {
    return clean(text, { keepColors: this.#hasColor(stream) })
  }

  /** Text in a colour where colours are on. */
  color(color: Color, text: string, stream: NodeJS.WriteStream = process.stdout): string {
    return this.#hasColor(stream) ? `\u001b[${COLORS[color]}m${text}\u001b[0m` : text
  }

  #hasColor(stream: NodeJS.WriteStream): boolean {
    if (this.#isPlain || this.isJson) return false
    const { NO_COLOR, FORCE_COLOR, TERM } = process.env
    if (FORCE_COLOR !== undefined) return FORCE_COLOR !== '0'
    if (NO_COLOR || TERM === 'dumb') return false
    return stream.isTTY
  }
}
