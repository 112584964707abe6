import type { BuildStep, StepEnd } from '#server/logs/steps.ts'
import type { BuiltStep } from './cache-records.ts'
import { readVertex, type Vertex } from './build-vertex.ts'
import { readFields } from './protobuf.ts'

/** Gets a line, and the number of the step that it belongs to if it is known. */
export type OnLine = (line: string, stream: 'stdout' | 'stderr', step?: number) => void
/** Gets a step when it begins, before its first line, and when it has ended. */
export type OnStep = (step: BuildStep) => void

/** A longer line of a step's output is cut. */
const MAX_LINE_BYTES = 16 * 1024
const NEWLINE = 10
/** How much of a failed step's last output becomes part of its error, which people read. */
const MAX_LAST_LINES = 20
const MAX_LAST_CHARACTERS = 300
/** Lines of package managers after the actual reason. */
const NO_REASON = /^npm (ERR!|error) A complete log of this run|^npm (notice|ERR!|error)\s*$/
/** Shorter values are flags and numbers; masking them would mangle words. */
const MIN_MASKED_LENGTH = 5

/** How npm begins its usage text of a hundred lines when a lock file does not match its manifest. */
const OPTIONS_BEGIN = /^npm (?:error|ERR!) (?:Clean install a project|Usage:)$/
const NPM_ERROR = /^npm (?:error|ERR!)/

/** An internal step that takes longer is announced, so that the log is not silent while a registry is slow. */
const LONG_INTERNAL_STEP_MS = 3_000

interface Step {
  number: number
  name: string
  isAnnounced: boolean
  /** Whether its beginning was reported to `onExecuted`. */
  isReported: boolean
  isDone: boolean
  startedMs: number | null
  /** Milliseconds; null until it has ended. */
  tookMs: number | null
  partial: { stdout: Buffer; stderr: Buffer }
  /** The last lines that it printed. */
  lastLines: string[]
  /** Whether npm has begun to list its options, after the reason. */
  listsOptions: boolean
  /** Announces the step when it takes long. */
  timer: NodeJS.Timeout | undefined
}

interface ProgressOptions {
  onLine: OnLine
  /** Gets the steps that have a heading in the log. */
  onStep?: OnStep | undefined
  /** Gets each step that is executed, not taken from the cache: when it begins, and when it has ended, even with an error. */
  onExecuted?: (step: BuiltStep) => void
  /** Those of the build: BuildKit puts their values into the names of steps, where they are masked again. */
  buildArgs?: Record<string, string> | undefined
}

/**
 * Turns BuildKit's progress (`moby.buildkit.trace`: control.StatusResponse of moby/buildkit, api/services/control) into
 * lines: a heading for each step (`#3 [2/5] RUN npm ci`), what the step prints, and `CACHED`, `DONE 1.2s` or `ERROR`.
 */
export class BuildProgress {
  readonly #onLine: OnLine
  readonly #onStep: OnStep
  readonly #onExecuted: (step: BuiltStep) => void
  readonly #steps = new Map<string, Step>()
  readonly #arguments: [string, string][]
  #last: Step | null = null
  #announced = 0

  constructor({ onLine, onStep = () => {}, onExecuted = () => {}, buildArgs = {} }: ProgressOptions) {
    this.#onLine = onLine
    this.#onStep = onStep
    this.#onExecuted = onExecuted
    this.#arguments = Object.entries(buildArgs)
      .filter(([, value]) => value.length >= MIN_MASKED_LENGTH)
      .sort(([, a], [, b]) => b.length - a.length)
  }

  /** Reads one trace. Throws RangeError when it is not protobuf. */
  read(trace: Buffer): void {
    for (const { number, value } of readFields(trace)) {
      if (typeof value === 'number') continue
      if (number === 1) this.#vertex(readVertex(value))
      else if (number === 3) this.#log(value)
    }
  }

  /** The steps that ended with an error, by their names. */
  failed: string[] = []
  /** The last lines of the step that failed last, without lines that do not help to find the reason. */
  lastLines: readonly string[] = []

  /** Emits output that did not end with a newline, and stops announcing steps. */
  end(): void {
    for (const step of this.#steps.values()) {
      clearTimeout(step.timer)
      this.#flush(step)
    }
  }

  #vertex(vertex: Vertex): void {
    const step = this.#step(vertex.digest)
    if (vertex.name) step.name = this.#nameOf(vertex.name)
    step.startedMs ??= vertex.startedMs
    this.#report(step, vertex)
    if (vertex.completedMs !== null || vertex.error) clearTimeout(step.timer)
    if (vertex.completedMs !== null && step.startedMs !== null)
      step.tookMs = vertex.completedMs - step.startedMs
    if (vertex.error && !step.isDone) {
      step.isDone = true
      // "context canceled" is reported for steps that ran alongside the one that failed.
      if (vertex.error.endsWith('context canceled')) return this.#canceled(step)
      this.failed.push(step.name)
      this.#flush(step)
      this.lastLines = step.lastLines
      this.#say(step, 'ERROR', 'failed')
    } else if (isInternal(step) && !step.isAnnounced) {
      if (step.name !== '' && step.startedMs !== null && vertex.completedMs === null)
        step.timer ??= setTimeout(() => this.#announce(step), LONG_INTERNAL_STEP_MS)
    } else if (vertex.isCached && !step.isDone) {
      step.isDone = true
      this.#say(step, 'CACHED', 'succeeded')
    } else if (step.tookMs !== null && !step.isDone) {
      step.isDone = true
      this.#say(step, `DONE ${(step.tookMs / 1_000).toFixed(1)}s`, 'succeeded')
    } else if (step.startedMs !== null && !step.isDone) {
      this.#announce(step)
    }
  }

  #report(step: Step, { name, isCached, startedMs, completedMs, error }: Vertex): void {
    if (startedMs === null || isCached || (completedMs === null && step.isReported)) return
    step.isReported = true
    const buildArgs = Object.fromEntries(this.#arguments.filter(([, value]) => name.includes(value)))
    this.#onExecuted({ name, buildArgs, hasFailed: error !== '', startedMs, completedMs })
  }

  #say(step: Step, what: string, status: StepEnd): void {
    this.#flush(step)
    this.#announce(step)
    this.#onLine(`#${step.number} ${what}`, 'stdout', step.number)
    this.#tell(step, { status, isCached: what === 'CACHED' })
  }

  #canceled(step: Step): void {
    if (step.isAnnounced) this.#tell(step, { status: 'canceled', isCached: false })
  }

  #tell({ number, name, startedMs, tookMs }: Step, end: { status: StepEnd; isCached: boolean } | null): void {
    const began = startedMs ?? Date.now()
    const milliseconds = tookMs ?? (end?.isCached ? 0 : Date.now() - began)
    this.#onStep({ number, name, startedMs: began, end: end && { ...end, milliseconds } })
  }

  #announce(step: Step): void {
    if (step.isAnnounced) return
    step.isAnnounced = true
    step.number = ++this.#announced
    this.#last = step
    this.#tell(step, null)
    this.#onLine(`#${step.number} ${step.name}`, 'stdout', step.number)
  }

  #log(message: Buffer): void {
    let digest = ''
    let stream: 'stdout' | 'stderr' = 'stdout'
    let bytes: Buffer = Buffer.alloc(0)
    for (const { number, value } of readFields(message)) {
      if (number === 1 && typeof value !== 'number') digest = value.toString('latin1')
      else if (number === 3) stream = value === 2 ? 'stderr' : 'stdout'
      else if (number === 4 && typeof value !== 'number') bytes = value
    }
    const step = this.#step(digest)
    let from = 0
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, from)) {
      this.#print(step, stream, Buffer.concat([step.partial[stream], bytes.subarray(from, end)]))
      step.partial[stream] = Buffer.alloc(0)
      from = end + 1
    }
    step.partial[stream] = Buffer.concat([step.partial[stream], bytes.subarray(from)]).subarray(
      0,
      MAX_LINE_BYTES,
    )
  }

  /** Steps run concurrently: when the step changes from line to line, its heading is repeated. */
  #print(step: Step, stream: 'stdout' | 'stderr', line: Buffer): void {
    this.#announce(step)
    if (this.#last !== step) this.#onLine(`#${step.number} ${step.name}`, 'stdout', step.number)
    this.#last = step
    const text = line.subarray(0, MAX_LINE_BYTES).toString('utf8').replace(/\r$/, '')
    this.#onLine(text, stream, step.number)
    step.listsOptions ||= OPTIONS_BEGIN.test(text)
    if (text.trim() === '' || NO_REASON.test(text) || (step.listsOptions && NPM_ERROR.test(text))) return
    step.lastLines.push(text.slice(0, MAX_LAST_CHARACTERS))
    if (step.lastLines.length > MAX_LAST_LINES) step.lastLines.shift()
  }

  #flush(step: Step): void {
    for (const stream of ['stdout', 'stderr'] as const) {
      if (step.partial[stream].length > 0) this.#print(step, stream, step.partial[stream])
      step.partial[stream] = Buffer.alloc(0)
    }
  }

  /** A step's name as one line, with the values of build arguments masked. */
  #nameOf(name: string): string {
    let masked = name
    for (const [argument, value] of this.#arguments) masked = masked.replaceAll(value, () => `$${argument}`)
    return readableName(masked)
  }

  #step(digest: string): Step {
    let step = this.#steps.get(digest)
    if (!step) {
      const partial = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) }
      step = {
        number: 0,
        name: '',
        isAnnounced: false,
        isReported: false,
        isDone: false,
        startedMs: null,
        tookMs: null,
        partial,
        lastLines: [],
        listsOptions: false,
        timer: undefined,
      }
      this.#steps.set(digest, step)
    }
    return step
  }
}

/**
 * Whether a step is internal to the engine: loading the context, the Dockerfile or the metadata of an image. Internal steps
 * are announced only when they fail or take long.
 */
function isInternal({ name }: Step): boolean {
  return name.startsWith('[internal]') || name.startsWith('copy /context') || name === ''
}

/** A step's name without what only the builder needs: mounts, repeated spaces and the plans' own wrapper. */
function readableName(name: string): string {
  return name
    .replace(/--mount=\S+/g, '')
    .replace(/\s+/g, ' ')
    .replace('/bin/sh /usr/local/bin/build-step ', '')
}
