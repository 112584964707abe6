import { AppError } from '../errors.ts'
import { ThreadEnded, WorkerThread } from '../work/worker-thread.ts'
import type { LineFilter } from './filter.ts'
import type { Slice } from './parts.ts'
import type { Found } from './tail.ts'

/** A search that takes longer has found a text that costs too much; what was found before is lost with it. */
const SEARCH_LIMIT_MS = 30_000
/** Searches at one time; each may take a core. */
const MAX_THREADS = 8
/** A part unpacked, the lines that were found, and node itself. */
const MAX_HEAP_MIB = 192

/** What is asked of the thread. */
export type SearchRequest =
  | { kind: 'tail'; slices: readonly Slice[]; tail: number; room: number }
  | { kind: 'match'; block: Uint8Array }
/** What it answers: to `tail` what was found, to `match` the lines that are wanted. */
export type SearchAnswer = { found: Found } | { text: Uint8Array }

let program: string | undefined
let running = 0

/** Says which file the thread runs; once, when the server starts. */
export function provideSearchProgram(file: string): void {
  program = file
}

/** A thread that looks for lines, so that no text and no expression holds up the server. It must be ended. */
export class SearchThread {
  readonly #thread: WorkerThread<SearchRequest, SearchAnswer>

  /** Throws `service_unavailable` when too many run, and the signal's reason. */
  constructor(filter: LineFilter, signal: AbortSignal) {
    signal.throwIfAborted()
    if (!program) throw new Error('no program was named that searches logs')
    if (running >= MAX_THREADS)
      throw new AppError(
        'service_unavailable',
        `${MAX_THREADS} searches of logs run at one time, and they do: try again when one has ended`,
        { retryAfterSeconds: 1 },
      )
    running++
    this.#thread = new WorkerThread({
      program,
      data: filter,
      maxHeapMib: MAX_HEAP_MIB,
      limitMs: SEARCH_LIMIT_MS,
    })
    this.#thread.onEnd(() => running--)
    signal.addEventListener('abort', () => this.end(), { once: true })
  }

  end(): void {
    this.#thread.end()
  }

  async tail(slices: readonly Slice[], tail: number, room: number): Promise<Found> {
    const { found } = (await this.#ask({ kind: 'tail', slices, tail, room })) as { found: Found }
    return { ...found, blocks: found.blocks.map((block) => Buffer.from(block)) }
  }

  /** The wanted lines of a block, with their newlines. */
  async match(block: Uint8Array): Promise<Buffer> {
    const { text } = (await this.#ask({ kind: 'match', block })) as { text: Uint8Array }
    return Buffer.from(text)
  }

  /** Throws `service_unavailable` when the thread has ended, or takes too long. */
  #ask(request: SearchRequest): Promise<SearchAnswer> {
    return this.#thread.ask(request).catch((error: unknown) => {
      if (!(error instanceof ThreadEnded)) throw error
      throw new AppError('service_unavailable', 'the search was ended: it took too long')
    })
  }
}
