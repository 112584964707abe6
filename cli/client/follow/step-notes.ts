import type { DeployStep } from '#server/logs/steps.ts'
import type { LogLine } from '#server/logs/lines.ts'
import type { Output } from '../../output.ts'
import { durationText } from '../figures.ts'

/** How often the running step is drawn, and the time that it has taken. */
const DRAW_EVERY_MS = 1_000
const DEFAULT_WIDTH = 80
const MINUTE_MS = 60_000
/** Moves to the start of the line and clears it (ECMA-48, EL). */
const CLEAR_LINE = '\r\u001b[K'

/**
 * Says between the lines of a deploy's log which step they belong to and how long it took: `--- Fetch the source`, and at its
 * end `--- Fetch the source: 1.2 s`. The steps of a build have such lines in the log itself. On a terminal, the step that runs
 * is the last line.
 */
export class StepNotes {
  readonly #out: Output
  readonly #print: (text: string) => void
  readonly #running = new Map<string, DeployStep>()
  /** The step whose heading was printed last. */
  #headed: string | null = null
  #isDrawn = false
  #timer: NodeJS.Timeout | undefined

  /** `print` gets whole lines without a newline. */
  constructor(out: Output, print: (text: string) => void) {
    this.#out = out
    this.#print = print
  }

  /** Takes a step that has begun or ended. */
  step(step: DeployStep): void {
    if (step.status === 'running') return void this.#running.set(step.id, step)
    this.#running.delete(step.id)
    if (isOfBuild(step.id)) return
    const { status, duration_ms } = step
    const took = timeText(duration_ms ?? 0)
    const how = status === 'succeeded' ? took : `${status} after ${took}`
    this.#print(`--- ${this.#out.cleaned(step.name)}: ${how}`)
    this.#headed = null
  }

  /** To be called before a line is printed. */
  line({ step }: LogLine): void {
    const running = step === undefined ? undefined : this.#running.get(step)
    if (!running || isOfBuild(running.id) || this.#headed === running.id) return
    this.#headed = running.id
    this.#print(`--- ${this.#out.cleaned(running.name)}`)
  }

  /** Draws the step that runs. Nothing may be printed before `clear`. */
  draw(): void {
    this.clear()
    const step = [...this.#running.values()].at(-1)
    if (!step || !this.#out.mayDraw) return
    const took = timeText(Math.floor((Date.now() - Date.parse(step.started_at)) / 1_000) * 1_000, 0)
    const width = (process.stderr.columns || DEFAULT_WIDTH) - took.length - 4
    const name = this.#out.cleaned(step.name, process.stderr).slice(0, Math.max(0, width))
    process.stderr.write(this.#out.color('dim', `> ${name} ${took}`, process.stderr))
    this.#isDrawn = true
    this.#timer ??= setInterval(() => this.draw(), DRAW_EVERY_MS).unref()
  }

  /** Removes what was drawn. */
  clear(): void {
    if (this.#isDrawn) process.stderr.write(CLEAR_LINE)
    this.#isDrawn = false
  }

  end(): void {
    this.clear()
    clearInterval(this.#timer)
  }
}

function isOfBuild(id: string): boolean {
  return id.startsWith('build-')
}

function timeText(milliseconds: number, digits = 1): string {
  if (milliseconds < MINUTE_MS) return `${(milliseconds / 1_000).toFixed(digits)} s`
  const seconds = Math.round(milliseconds / 1_000)
  return `${durationText(seconds)}${seconds % 60 === 0 || seconds >= 3_600 ? '' : ` ${seconds % 60} s`}`
}
