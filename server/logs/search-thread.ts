import { AppError } from '../errors.ts'
import { ThreadEnded, WorkerThread } from '../work/worker-thread.ts'
import type { LineFilter } from './filter.ts'
import type { Bars, Counted } from './histogram.ts'
import type { Newest } from './newest.ts'
import type { Slice } from './parts.ts'
import type { NamedLog } from './search-parts.ts'
import type { Found } from './tail.ts'

/** A search that takes longer has met text that is too expensive. What it found so far is lost. */
const SEARCH_LIMIT_MS = 30_000
/** How many searches may run at a time; each may use a CPU core. */
const MAX_THREADS = 8
/** Enough for an unpacked part, the lines found, and node itself. */
const MAX_HEAP_MIB = 192

/** After this time a reading of several logs begins no further part, and says how far it came. */
const NEWEST_LIMIT_MS = 20_000
/** The same for a histogram, which is only an overview. */
const COUNT_LIMIT_MS = 5_000

/** A request to the thread. For several logs, the instances of the thread's filter do not count. */
export type SearchRequest =
  | { kind: 'tail'; slices: readonly Slice[]; tail: number; room: number }
  | { kind: 'match'; block: Uint8Array }
  | { kind: 'newest'; logs: readonly NamedLog[]; tail: number; room: number; limitMs: number }
  | { kind: 'count'; logs: readonly NamedLog[]; bars: Bars; limitMs: number }
/** An answer of the thread: for `match` the wanted lines. */
export type SearchAnswer = { found: Found } | { text: Uint8Array } | { newest: Newest } | { counted: Counted }

let program: string | undefined
let running = 0

/** Sets the file that the thread runs. Called once, when the server starts. */
export function provideSearchProgram(file: string): void {
  program = file
}

/** A thread that searches lines, so that no text and no expression blocks the server. Must be ended. */
export class SearchThread {
  readonly #thread: WorkerThread<SearchRequest, SearchAnswer>

  /** Throws `service_unavailable` when too many are running, and the signal's reason. */
  constructor(filter: LineFilter, signal: AbortSignal) {
    signal.throwIfAborted()
    if (!program) throw new Error('the program of the search thread was not set')
    if (running >= MAX_THREADS)
      throw new AppError(
        'service_unavailable',
        `${MAX_THREADS} log searches are running, which is the maximum: try again when one has ended`,
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

  /** The newest wanted lines of several logs, labelled and merged by time. */
  async newest(logs: readonly NamedLog[], tail: number, room: number): Promise<Newest> {
    const request = { kind: 'newest', logs, tail, room, limitMs: NEWEST_LIMIT_MS } as const
    return ((await this.#ask(request)) as { newest: Newest }).newest
  }

  /** How many wanted lines several logs have in each bar. */
  async count(logs: readonly NamedLog[], bars: Bars): Promise<Counted> {
    const request = { kind: 'count', logs, bars, limitMs: COUNT_LIMIT_MS } as const
    return ((await this.#ask(request)) as { counted: Counted }).counted
  }

  /** The wanted lines of a block, with their newlines. */
  async match(block: Uint8Array): Promise<Buffer> {
    const { text } = (await this.#ask({ kind: 'match', block })) as { text: Uint8Array }
    return Buffer.from(text)
  }

  /** Throws `service_unavailable` when the thread has ended or takes too long. */
  #ask(request: SearchRequest): Promise<SearchAnswer> {
    return this.#thread.ask(request).catch((error: unknown) => {
      if (!(error instanceof ThreadEnded)) throw error
      throw new AppError('service_unavailable', 'the search was stopped because it took too long')
    })
  }
}
