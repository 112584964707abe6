import { AppError, type ErrorCode, type FaultDetail } from '../errors.ts'
import { Slots } from '../work/slots.ts'
import { ThreadEnded, WorkerThread } from '../work/worker-thread.ts'
import type { Converted } from './compose/convert.ts'
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
/** What it answers: what was read, or why the file is refused. */
export type ReadingAnswer =
  | { read: ReadFile | Converted }
  | { refused: { code: ErrorCode; message: string; details: readonly FaultDetail[] | undefined } }

let program: string | undefined
let thread: WorkerThread<ReadingRequest, ReadingAnswer> | null = null
let idle: NodeJS.Timeout | undefined
/** Files are read one after another. */
const turn = new Slots(1)
let waiting = 0

/** Says which file the thread runs; once, when the server starts. */
export function provideBlueprintProgram(file: string): void {
  program = file
}

/** `readBlueprint` in a thread. Throws `service_unavailable` too, when too many files wait. */
export async function readBlueprintAside(text: string, context: FileContext): Promise<ReadFile> {
  return (await ask({ kind: 'blueprint', text, context })) as ReadFile
}

/** `convertCompose` in a thread. Throws `service_unavailable` too, when too many files wait. */
export async function convertComposeAside(text: string, origin: string): Promise<Converted> {
  return (await ask({ kind: 'compose', text, origin })) as Converted
}

/** Reads a file in the thread, so that it does not hold up the server. */
async function ask(request: ReadingRequest): Promise<ReadFile | Converted> {
  if (waiting >= MAX_WAITING)
    throw new AppError(
      'service_unavailable',
      `${MAX_WAITING} files wait to be read: try again when they have been`,
      { retryAfterSeconds: 1 },
    )
  waiting++
  const answer = await turn.run(() => read(request)).finally(() => waiting--)
  if ('read' in answer) return answer.read
  const { code, message, details } = answer.refused
  throw new AppError(code, message, details && { details })
}

async function read(request: ReadingRequest): Promise<ReadingAnswer> {
  clearTimeout(idle)
  thread ??= start()
  try {
    const answer = await thread.ask(request)
    idle = setTimeout(end, IDLE_MS).unref()
    return answer
  } catch (error) {
    end()
    if (!(error instanceof ThreadEnded)) throw error
    throw new AppError('invalid_request', 'the file takes too much to be read: make it smaller or plainer', {
      cause: error,
    })
  }
}

function end(): void {
  thread?.end()
  thread = null
}

function start(): WorkerThread<ReadingRequest, ReadingAnswer> {
  if (!program) throw new Error('no program was named that reads blueprints')
  return new WorkerThread({ program, maxHeapMib: MAX_HEAP_MIB, limitMs: READING_LIMIT_MS })
}
