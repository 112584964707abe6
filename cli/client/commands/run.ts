import type { Job } from '#server/jobs/schema.ts'
import type { LogLine } from '#server/logs/lines.ts'
import type { Call } from '../../call.ts'
import { EXIT, type Fault } from '../../fault.ts'
import { onInterrupt } from '../../interrupts.ts'
import type { Output } from '../../output.ts'
import { ApiFault, type Api } from '../api.ts'
import { jobFailureOf, readJobLog } from '../follow/job.ts'
import { saveMemory } from '../follow/memory.ts'
import type { Sink } from '../follow/sink.ts'
import { withOwnFaults } from '../own-faults.ts'
import { pathTo, serviceOf, type Target } from '../target.ts'
import { withApi } from '../with-api.ts'

/** How a job ended, for its command. */
interface Outcome {
  exitCode: number
  failure: Fault | null
}

/** Runs a command in a new container of a service. Resolves with the exit code of the job. Throws Fault if it has none. */
export async function run(call: Call): Promise<number> {
  const { exitCode, failure } = await withOwnFaults(() => withApi(call, (api) => outcomeOf(call, api)))
  if (failure) throw failure
  return exitCode
}

async function outcomeOf(call: Call, api: Api): Promise<Outcome> {
  const { out } = call
  const service = await serviceOf(call, api)
  const interrupts = new Interrupts(call, api)
  try {
    const job = await start(call, api, service)
    if (call.has('detach')) {
      if (out.isJson) out.json(job)
      else out.line(job.id)
      return { exitCode: 0, failure: null }
    }
    interrupts.started(job.id)
    saveMemory()
    const ended = await readJobLog(api, out, job.id, { follows: true, sink: new JobPrinter(out) })
    if (out.isJson) out.json(ended)
    if (interrupts.isCanceled) return { exitCode: EXIT.interrupted, failure: null }
    return { exitCode: ended.exit_code ?? 0, failure: ended.exit_code === null ? jobFailureOf(ended) : null }
  } finally {
    interrupts.forget()
  }
}

function start({ rest }: Call, api: Api, service: Target): Promise<Job> {
  const command = commandOf(rest ?? [])
  return api.send<Job>('POST', pathTo('services', service, '/jobs'), command === null ? {} : { command }, {
    query: { environment: service.environment },
  })
}

/** The command as `sh -c` takes it: one word as it is, several so that the program gets exactly them; null without any. */
export function commandOf(words: readonly string[]): string | null {
  if (words.length <= 1) return words[0] ?? null
  return words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
}

/** Prints what a job prints to the stream that it printed to, and what the server says to standard error. */
class JobPrinter implements Omit<Sink<LogLine>, 'skipped'> {
  readonly #out: Output
  #text = ''

  constructor(out: Output) {
    this.#out = out
  }

  line({ stream, line }: LogLine): void {
    if (this.#out.isJson) return
    if (stream === 'stdout') this.#text += `${this.#out.cleaned(line)}\n`
    else {
      // Lines stay in their order where both streams are one.
      this.#write()
      this.#out.foreign(line)
    }
  }

  flush(): Promise<void> {
    this.#write()
    return this.#out.room()
  }

  #write(): void {
    const text = this.#text
    this.#text = ''
    if (text !== '') this.#out.text(text)
  }
}

/** Ctrl-C cancels the job, whose end is waited for; a second one leaves it to itself. */
class Interrupts {
  isCanceled = false
  readonly forget: () => void
  readonly #call: Call
  readonly #api: Api
  #id: string | null = null

  constructor(call: Call, api: Api) {
    this.#call = call
    this.#api = api
    this.forget = onInterrupt(() => (this.isCanceled ? this.#leave() : this.#cancel()))
  }

  /** Cancels the job if that was asked for before it had an id. */
  started(id: string): void {
    this.#id = id
    if (this.isCanceled) this.#cancel()
  }

  #cancel(): void {
    this.isCanceled = true
    const id = this.#id
    if (id === null) return
    this.#call.out.note(`deployer: canceling ${id}; Ctrl-C again leaves it to itself`)
    this.#api.send('POST', `/jobs/${id}/cancel`).catch((error: unknown) => {
      // It has ended meanwhile.
      if (error instanceof ApiFault && error.status === 409) return
      process.stderr.write(`deployer: ${id} could not be canceled: ${(error as Error).message}\n`)
    })
  }

  #leave(): void {
    const id = this.#id
    if (id !== null) process.stderr.write(`deployer: ${id} goes on; deployer jobs cancel ${id} ends it\n`)
    process.exit(EXIT.interrupted)
  }
}
