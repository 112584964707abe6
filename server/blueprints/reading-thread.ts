import { AppError, type ErrorCode, type FaultDetail } from '../errors.ts'
import { Slots } from '../work/slots.ts'
import { ThreadEnded, WorkerThread } from '../work/worker-thread.ts'
import type { Converted } from './compose/convert.ts'
import type { FileContext, ReadFile } from './read.ts'

/** The worst file within the limits takes two seconds on an idle machine. */
const READING_LIMIT_MS = 20_000
/** The largest file with every alias followed, and node itself. */
const MAX_HEAP_MIB = 256
/** Each waiting request keeps a file in memory; beyond this limit, clients have to try again. */
const MAX_WAITING = 32
/**
 * An editor sends a file every half second, and starting a thread takes longer than reading most files. Keeping it takes
 * memory.
 */
const IDLE_MS = 60_000

/** A request to the thread. */
export type ReadingRequest =
  | { kind: 'blueprint'; text: string; context: FileContext }
  | { kind: 'compose'; text: string; origin: string }
/** Its response: what was read, or why the file is refused. */
export type ReadingAnswer =
  | { read: ReadFile | Converted }
  | { refused: { code: ErrorCode; message: string; details: readonly FaultDetail[] | undefined } }

let program: string | undefined
let thread: WorkerThread<ReadingRequest, ReadingAnswer> | null = null
let idle: NodeJS.Timeout | undefined
/** Files are read one after another. */
const turn = new Slots(1)
let waiting = 0

/** Sets the file that the thread runs; called once, when the server starts. */
export function provideBlueprintProgram(file: string): void {
  program = file
}

/** Runs `readBlueprint` in a thread. Also throws `service_unavailable` when too many files are waiting. */
export async function readBlueprintAside(text: string, context: FileContext): Promise<ReadFile> {
  return (await ask({ kind: 'blueprint', text, context })) as ReadFile
}

/** Runs `convertCompose` in a thread. Also throws `service_unavailable` when too many files are waiting. */
export async function convertComposeAside(text: string, origin: string): Promise<Converted> {
  return (await ask({ kind: 'compose', text, origin })) as Converted
}

/** Reads a file in the thread, so that it does not block the server. */
async function ask(request: ReadingRequest): Promise<ReadFile | Converted> {
  if (waiting >= MAX_WAITING)
    throw new AppError(
      'service_unavailable',
      `${MAX_WAITING} files are waiting to be read: try again in a moment`,
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
    throw new AppError('invalid_request', 'the file is too complex to parse: make it smaller or simpler', {
      cause: error,
    })
  }
}

function end(): void {
  thread?.end()
  thread = null
}

function start(): WorkerThread<ReadingRequest, ReadingAnswer> {
  if (!program) throw new Error('no program to read blueprints was set')
  return new WorkerThread({ program, maxHeapMib: MAX_HEAP_MIB, limitMs: READING_LIMIT_MS })
}
