import { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { Worker } from 'node:worker_threads'
import { BuildFailure } from '../builds/failure.ts'
import type { Answer, Job, JobStreams, Request } from './job.ts'

const OUTPUT_FD = 1

type Work = (input: unknown, streams: JobStreams) => Promise<unknown>

/** The name of a job, and the function that does it. */
export type Handler = [name: string, work: Work]

/** Binds a job to the function that does it, with the types of the job. */
export function handler<Input, Output>(
  job: Job<Input, Output>,
  work: (input: Input, streams: JobStreams) => Promise<Output>,
): Handler {
  return [job.name, work as Work]
}

/** Does the jobs that come over node's channel, one after another, until the process is killed; it never ends by itself. */
export function serveJobs(jobs: Handler[]): void {
  const works = new Map(jobs)
  const streams = new ProcessStreams()
  process.on('message', (request: Request) => {
    const work = works.get(request.job)
    void answerOf(work, request, streams).then((answer) => process.send!(answer))
  })
}

async function answerOf(
  work: Work | undefined,
  { job, input }: Request,
  streams: JobStreams,
): Promise<Answer> {
  try {
    if (!work) throw new Error(`there is no job ${job}`)
    return { kind: 'done', output: await work(input, streams) }
  } catch (error) {
    if (error instanceof BuildFailure) return { kind: 'source fault', message: error.message }
    const { message, stack, code } = (error instanceof Error ? error : new Error(String(error))) as Error & {
      code?: string
    }
    return { kind: 'error', message, code: code ?? null, stack: stack ?? message }
  }
}

/** Makes this process end with its parent: `program` is the file of lifeline.ts. */
export function endWithLifeline(program: string): void {
  new Worker(program).on('error', (error) => {
    throw error
  })
}

/** The streams are opened only when a job uses them. */
class ProcessStreams implements JobStreams {
  #output: Writable | undefined

  get input(): Readable {
    return process.stdin
  }

  /** Not `process.stdout`, which blocks the thread and cannot be ended. */
  get output(): Writable {
    return (this.#output ??= new Socket({ fd: OUTPUT_FD, readable: false, writable: true }))
  }
}
