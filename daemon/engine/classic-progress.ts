import type { OnLine, OnStep } from './build-progress.ts'

/** How the classic builder (`Step 2/4 : RUN npm ci`) and Podman (`STEP 2/4: RUN npm ci`) begin a step. */
const HEADING = /^step (\d+)\/(\d+) ?: (.*)$/i
const CACHED = /^ ?-+> Using cache/

/** The steps of a builder that runs them one after another and prints lines only. */
export class ClassicProgress {
  readonly #onLine: OnLine
  readonly #onStep: OnStep
  #count = 0
  #last: { number: number; name: string; startedMs: number; isCached: boolean } | null = null

  constructor(onLine: OnLine, onStep: OnStep = () => {}) {
    this.#onLine = onLine
    this.#onStep = onStep
  }

  read(line: string): void {
    const [, place, count, instruction] = HEADING.exec(line) ?? []
    if (instruction !== undefined) this.#begin(`[${place}/${count}] ${instruction}`)
    if (this.#last && CACHED.test(line)) this.#last.isCached = true
    this.#onLine(line, 'stdout', this.#last?.number)
  }

  /** The build has succeeded, so its last step has. */
  end(): void {
    if (this.#last === null) return
    const { isCached, ...step } = this.#last
    const milliseconds = Date.now() - step.startedMs
    this.#onStep({ ...step, end: { status: 'succeeded', isCached, milliseconds } })
    this.#last = null
  }

  #begin(name: string): void {
    this.end()
    this.#last = { number: ++this.#count, name, startedMs: Date.now(), isCached: false }
    const { isCached: _, ...step } = this.#last
    this.#onStep({ ...step, end: null })
  }
}
