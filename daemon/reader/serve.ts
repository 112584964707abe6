import { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { Worker } from 'node:worker_threads'
import { BuildFailure } from '#plans/index.ts'
import type { Answer, Call, CallStreams, Request } from './call.ts'

const OUTPUT_FD = 1

type Work = (input: unknown, streams: CallStreams) => Promise<unknown>

/** The name of a call, and the function that answers it. */
export type Handler = [name: string, work: Work]

/** Binds a call to the function that answers it, with the types of the call. */
export function handler<Input, Output>(
  call: Call<Input, Output>,
  work: (input: Input, streams: CallStreams) => Promise<Output>,
): Handler {
  return [call.name, work as Work]
}

/** Answers the calls that come over node's channel, one after another, until the process is killed; it never ends by itself. */
export function serveCalls(calls: Handler[]): void {
  const works = new Map(calls)
  const streams = new ProcessStreams()
  process.on('message', (request: Request) => {
    const work = works.get(request.call)
    void answerOf(work, request, streams).then((answer) => process.send!(answer))
  })
}

async function answerOf(
  work: Work | undefined,
  { call, input }: Request,
  streams: CallStreams,
): Promise<Answer> {
  try {
    if (!work) throw new Error(`there is no call ${call}`)
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

/** The streams are opened only when a call uses them. */
class ProcessStreams implements CallStreams {
  #output: Writable | undefined

  get input(): Readable {
    return process.stdin
  }

  /** Not `process.stdout`, which blocks the thread and cannot be ended. */
  get output(): Writable {
    return (this.#output ??= new Socket({ fd: OUTPUT_FD, readable: false, writable: true }))
  }
}
