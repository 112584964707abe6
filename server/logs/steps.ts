import { z } from 'zod'
import { timestamp } from '../clock.ts'
import { Timestamp } from '../schema.ts'
import { cleanLine } from '../text/clean-line.ts'

const STEP_STATUSES = ['running', 'succeeded', 'failed', 'canceled'] as const

/** A Dockerfile that was made to have many steps must not fill the log and the database with them. */
const MAX_BUILD_STEPS = 200
/** Those of the builds, and those of the server, which repeats its own when a deploy is continued. */
const MAX_STEPS = 300
/** A RUN instruction may be a whole script. */
const MAX_NAME_CHARACTERS = 200

/** A step of a deploy. */
export const DeployStep = z
  .object({
    started_at: Timestamp,
    id: z.string().meta({
      description:
        '`source`, `pull`, `plan`, `slot`, `prepare`, `publish`, `pre_deploy`, `stop`, `start`, `health`, `switch`; `build-3` for a step of the build, by its number in the log. With `~2` if the deploy has begun it for the second time',
      examples: ['build-3'],
    }),
    name: z.string().meta({ examples: ['[2/4] RUN npm ci'] }),
    cached: z.boolean().meta({ description: 'Whether the result was in the build cache', examples: [false] }),
    duration_ms: z
      .int()
      .nullable()
      .meta({ description: 'Null while it runs', examples: [12345] }),
    status: z.enum(STEP_STATUSES).meta({ examples: ['succeeded'] }),
  })
  .meta({ id: 'DeployStep', description: 'A step of a deploy' })
export type DeployStep = z.infer<typeof DeployStep>

export type StepEnd = Exclude<DeployStep['status'], 'running'>

/** A step of a build that has begun or ended; times are milliseconds of the engine's clock. */
export interface BuildStep {
  /** From 1, in the order of the build's log. */
  number: number
  name: string
  startedMs: number
  /** Null when it has begun. */
  end: { status: StepEnd; isCached: boolean; milliseconds: number } | null
}

/** How a stored step begins; a stored line begins with its time. */
const RECORD_START = '{"started_at":'

/** A step as it is stored in a log: like a line, it ends with a quote and a brace. */
export function storedStep({ started_at, id, name, cached, duration_ms, status }: DeployStep): string {
  return `${JSON.stringify({ started_at, id, name, cached, duration_ms, status })}\n`
}

/** Whether a stored line is the beginning or the end of a step. */
export function isStoredStep(stored: string): boolean {
  return stored.startsWith(RECORD_START)
}

/**
 * The steps of a deploy while it runs. The server's own follow each other: the beginning of one is the end of the one before.
 * Those of a build may run at the same time.
 */
export class StepLog {
  readonly #write: (step: DeployStep) => void
  readonly #steps = new Map<string, DeployStep>()
  /** The steps of the build in progress by their numbers. */
  readonly #built = new Map<number, DeployStep>()
  #buildSteps = 0
  #current: DeployStep | null = null

  /** `write` gets each step when it begins and when it has ended. */
  constructor(write: (step: DeployStep) => void) {
    this.#write = write
  }

  /** All steps in the order in which they began. */
  get all(): DeployStep[] {
    return [...this.#steps.values()]
  }

  /** The id of the step that lines of the server belong to now. */
  get current(): string | undefined {
    return this.#current?.id
  }

  /** Takes over the steps of an earlier run of the same deploy. Those that it did not end are canceled. */
  recall(steps: readonly DeployStep[]): void {
    for (const step of steps) {
      this.#steps.set(step.id, step)
      if (step.id.startsWith('build-')) this.#buildSteps++
    }
    this.end('canceled')
  }

  /** Begins a step of the server. What ran before has succeeded. */
  begin(id: string, name: string): void {
    this.end('succeeded')
    this.#built.clear()
    this.#current = this.#add(id, name, Date.now())
  }

  /** Ends everything that runs. If a step of the build has failed, those next to it did not fail themselves. */
  end(status: StepEnd): void {
    const hasFailed = [...this.#built.values()].some((step) => step.status === 'failed')
    const own = status === 'failed' && hasFailed ? 'canceled' : status
    for (const step of this.#steps.values())
      if (step.status === 'running') this.#finish(step, own, false, Date.now() - Date.parse(step.started_at))
    this.#current = null
  }

  /** Begins or ends a step of the build. The first one ends the step in which the build was prepared. */
  build({ number, name, startedMs, end }: BuildStep): void {
    if (this.#current !== null) this.end('succeeded')
    if (!this.#built.has(number) && this.#buildSteps < MAX_BUILD_STEPS) {
      const step = this.#add(`build-${number}`, name, startedMs)
      this.#buildSteps++
      if (step) this.#built.set(number, step)
    }
    const step = this.#built.get(number)
    if (end && step?.status === 'running') this.#finish(step, end.status, end.isCached, end.milliseconds)
  }

  /** The id of a step of the build in progress; undefined if it has none. */
  builtId(number: number): string | undefined {
    return this.#built.get(number)?.id
  }

  #add(base: string, name: string, startedMs: number): DeployStep | null {
    if (this.#steps.size >= MAX_STEPS) return null
    let id = base
    for (let time = 2; this.#steps.has(id); time++) id = `${base}~${time}`
    const step: DeployStep = {
      started_at: timestamp(Math.round(startedMs)),
      id,
      name: cleanLine(name).slice(0, MAX_NAME_CHARACTERS),
      cached: false,
      duration_ms: null,
      status: 'running',
    }
    this.#steps.set(id, step)
    this.#write(step)
    return step
  }

  #finish(step: DeployStep, status: StepEnd, isCached: boolean, milliseconds: number): void {
    step.status = status
    step.cached = isCached
    step.duration_ms = Math.max(0, Math.round(milliseconds))
    this.#write(step)
  }
}
