import { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { Worker } from 'node:worker_threads'
import { BuildFailure } from '#plans/index.ts'
import type { Answer, Call, CallStreams, Request } from './call.ts'

const OUTPUT_FD = 1

type Work = (input: unknown, streams: CallStreams) => Promise<unknown>

/** A call with what answers it. */
export type Done = [name: string, work: Work]

/** Says what answers a call, in the types of the call. */
export function done<Input, Output>(
  call: Call<Input, Output>,
  work: (input: Input, streams: CallStreams) => Promise<Output>,
): Done {
  return [call.name, work as Work]
}

/** Answers the calls that come over node's channel, one after another, until the process is killed: it never ends itself. */
export function serveCalls(calls: Done[]): void {
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

/** Has this process end with the one that started it: `program` is the file of lifeline.ts. */
export function endWithLifeline(program: string): void {
  new Worker(program).on('error', (error) => {
    throw error
  })
}

/** Opened by the call that wants them. */
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
