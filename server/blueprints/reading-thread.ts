import { Worker } from 'node:worker_threads'
import { AppError, type ErrorCode, type FaultDetail } from '../errors.ts'
import type { Converted } from './compose.ts'
import type { FileContext, ReadFile } from './read.ts'

/** The worst file within the limits takes two seconds on an idle machine. */
const READING_LIMIT_MS = 20_000
/** The largest file with every alias followed, and node itself. */
const MAX_HEAP_MIB = 256
/** Each holds a file; who comes later is told to try again. */
const MAX_WAITING = 32
/** An editor asks every half second; a thread takes longer to start than most files to read, and memory to keep. */
const IDLE_MS = 60_000

/** What is asked of the thread. */
export type ReadingRequest =
  | { kind: 'blueprint'; text: string; context: FileContext }
  | { kind: 'compose'; text: string; origin: string }
/** What it answers: what was read, why the file is refused, or a fault of the program. */
export type ReadingAnswer =
  | { read: ReadFile | Converted }
  | { refused: { code: ErrorCode; message: string; details: readonly FaultDetail[] | undefined } }
  | { fault: string }

const TOO_MUCH: ReadingAnswer = {
  refused: {
    code: 'invalid_request',
    message: 'the file takes too much to be read: make it smaller or plainer',
    details: undefined,
  },
}

let program: string | undefined

/** Says which file the thread runs; once, when the server starts. */
export function provideBlueprintProgram(file: string): void {
  program = file
}

/** `readBlueprint` in a thread. Throws `service_unavailable` too, when too many files wait. */
export async function readBlueprintAside(text: string, context: FileContext): Promise<ReadFile> {
  return (await reading.ask({ kind: 'blueprint', text, context })) as ReadFile
}

/** `convertCompose` in a thread. Throws `service_unavailable` too, when too many files wait. */
export async function convertComposeAside(text: string, origin: string): Promise<Converted> {
  return (await reading.ask({ kind: 'compose', text, origin })) as Converted
}

/** A thread that reads people's files one after another, so that none of them holds up the server. */
class ReadingThread {
  #worker: Worker | null = null
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #idle: NodeJS.Timeout | undefined

  async ask(request: ReadingRequest): Promise<ReadFile | Converted> {
    if (this.#waiting >= MAX_WAITING)
      throw new AppError(
        'service_unavailable',
        `${MAX_WAITING} files wait to be read: try again when they have been`,
        { retryAfterSeconds: 1 },
      )
    this.#waiting++
    const answered = this.#last.then(() => this.#answer(request)).finally(() => this.#waiting--)
    this.#last = answered.catch(() => {})
    const answer = await answered
    if ('read' in answer) return answer.read
    if ('fault' in answer) throw new Error(answer.fault)
    const { code, message, details } = answer.refused
    throw new AppError(code, message, details && { details })
  }

  async #answer(request: ReadingRequest): Promise<ReadingAnswer> {
    clearTimeout(this.#idle)
    const worker = (this.#worker ??= start())
    const { promise, resolve } = Promise.withResolvers<ReadingAnswer>()
    const onError = (error: Error & { code?: string }): void =>
      resolve(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? TOO_MUCH : { fault: error.message })
    const timer = setTimeout(() => resolve(TOO_MUCH), READING_LIMIT_MS)
    worker.once('message', resolve).once('error', onError)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    worker.postMessage(request)
    const answer = await promise
    clearTimeout(timer)
    worker.off('message', resolve).off('error', onError)
    if (answer === TOO_MUCH || 'fault' in answer) this.#end()
    else this.#idle = setTimeout(() => this.#end(), IDLE_MS).unref()
    return answer
  }

  #end(): void {
    void this.#worker?.terminate()
    this.#worker = null
  }
}

const reading = new ReadingThread()

function start(): Worker {
  if (!program) throw new Error('no program was named that reads blueprints')
  const worker = new Worker(program, { env: {}, resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB } })
  // Who waits for an answer is told.
  worker.on('error', () => {})
  worker.unref()
  return worker
}
