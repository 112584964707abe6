import type { Written } from '../backups/part-file.ts'
import { AppError } from '../errors.ts'
import { ThreadEnded, WorkerThread } from '../work/worker-thread.ts'
import type { Source } from './pack.ts'

/** A few blocks, the entry that is read, and node itself. */
const MAX_HEAP_MIB = 64
/** Pieces live short: collected often, they stay few. */
const YOUNG_GENERATION_MIB = 2
/** Without progress for longer, even while all is made durable at the end, it waits for a disk that does not answer. */
const PROGRESS_LIMIT_MS = 30 * 60_000

/** What the thread packs, and where to. */
export interface Packing {
  source: Source
  /** Seals the backup; null leaves it open. */
  passphrase: string | null
  /** The final name of the file (see `writePart`). */
  path: string
}
/** An answer of the thread, now and then; `written` is null until the last. */
export interface PackingProgress {
  /** How many bytes of contents are packed. */
  doneBytes: number
  written: Written | null
}

let program: string | undefined

/** Sets the file that the thread runs; called once, when the server starts. */
export function providePackingProgram(file: string): void {
  program = file
}

/**
 * Writes a backup as `writePart` does, in a thread of lower priority that reads, packs and writes: requests are answered as
 * usual while a backup of many gigabytes is made. Calls `report` with the bytes of contents so far.
 */
export async function packAside(
  packing: Packing,
  report: (bytes: number) => void,
  signal: AbortSignal,
): Promise<Written> {
  if (!program) throw new Error('the program of the packing thread was not set')
  signal.throwIfAborted()
  const thread = new WorkerThread<'next', PackingProgress>({
    program,
    data: packing,
    maxHeapMib: MAX_HEAP_MIB,
    youngGenerationMib: YOUNG_GENERATION_MIB,
    limitMs: PROGRESS_LIMIT_MS,
  })
  const end = (): void => thread.end()
  signal.addEventListener('abort', end, { once: true })
  try {
    for (;;) {
      const { written, doneBytes } = await thread.ask('next')
      report(doneBytes)
      if (written) return written
    }
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof ThreadEnded)) throw error
    throw new AppError('io_error', 'packing the backup was stopped: it took too much memory or time', {
      cause: error,
    })
  } finally {
    signal.removeEventListener('abort', end)
    thread.end()
  }
}
