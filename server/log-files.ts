import { EventEmitter } from 'node:events'
import { open, rm, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { useContext } from './context.ts'
import { makePrivateDirectory, PRIVATE_FILE_MODE } from './files.ts'
import { cleanLine, type LogLine } from './log-lines.ts'

/** A log on disk stops growing here; the cut is said in a system line. */
const MAX_LOG_BYTES = 20 * 1024 * 1024
/** Lines wait this long for others, so that a chatty build costs few writes. */
const FLUSH_DELAY_MS = 20
/** Lines waiting for the disk; a faster producer is cut rather than held in memory. */
const MAX_PENDING_BYTES = 4 * 1024 * 1024
const READ_BYTES = 64 * 1024

const growth = new EventEmitter().setMaxListeners(0)
const writers = new Map<string, LogWriter>()

/** The file of a deploy's or a job's log. */
function pathOf(id: string): string {
  return join(useContext().options.dataDirectory, 'logs', `${id}.ndjson`)
}

/** Appends to the log of one deploy or job. */
export class LogWriter {
  readonly #id: string
  readonly #file: Promise<FileHandle>
  #pending: string[] = []
  #pendingBytes = 0
  #size = 0
  #cut = false
  #timer: NodeJS.Timeout | undefined
  #flushed: Promise<void> = Promise.resolve()

  constructor(id: string) {
    this.#id = id
    makePrivateDirectory(join(useContext().options.dataDirectory, 'logs'))
    this.#file = open(pathOf(id), 'a', PRIVATE_FILE_MODE).then(async (file) => {
      this.#size = (await file.stat()).size
      // What was cut off before must not swallow the first line of now.
      if (this.#size > 0) await file.appendFile('\n')
      return file
    })
    // The failure is met at the next flush, which awaits it.
    this.#file.catch(() => {})
  }

  /** A line of the server's own. */
  system(line: string): void {
    this.write({ ts: new Date().toISOString(), stream: 'system', line })
  }

  /** A line of a program. */
  output(stream: 'stdout' | 'stderr', line: string): void {
    this.write({ ts: new Date().toISOString(), stream, line })
  }

  write(entry: LogLine): void {
    if (this.#cut) return
    const line = { ...entry, line: cleanLine(entry.line) }
    let text = `${JSON.stringify(line)}\n`
    if (this.#size + Buffer.byteLength(text) > MAX_LOG_BYTES || this.#pendingBytes > MAX_PENDING_BYTES) {
      this.#cut = true
      text = `${JSON.stringify({ ts: line.ts, stream: 'system', line: `the log is cut here: it reached its ${MAX_LOG_BYTES / 1024 / 1024} MiB or came faster than the disk takes it` })}\n`
    }
    this.#size += Buffer.byteLength(text)
    this.#pendingBytes += text.length
    this.#pending.push(text)
    this.#timer ??= setTimeout(() => this.#flush(), FLUSH_DELAY_MS)
  }

  /** Writes what waits and closes the file. Throws `ENOSPC` and its like. */
  async close(): Promise<void> {
    this.#flush()
    try {
      await this.#flushed
    } finally {
      if (writers.get(this.#id) === this) writers.delete(this.#id)
      await this.#file.then((file) => file.close())
      growth.emit(this.#id)
    }
  }

  #flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const text = this.#pending.join('')
    this.#pending = []
    if (text === '') return
    this.#flushed = this.#flushed.then(async () => {
      const file = await this.#file
      await file.appendFile(text)
      this.#pendingBytes -= text.length
      growth.emit(this.#id)
    })
    // Told to whoever closes the log; a full disk must not end the server.
    this.#flushed.catch(() => {})
  }
}

/** Opens the log of a deploy or a job for appending. One writer at a time. */
export function openLog(id: string): LogWriter {
  const writer = new LogWriter(id)
  writers.set(id, writer)
  return writer
}

/** Removes a log. */
export async function removeLog(id: string): Promise<void> {
  await rm(pathOf(id), { force: true })
}

/** Whether more may still be written to a log. */
export function isOpen(id: string): boolean {
  return writers.has(id)
}

/** Wakes who follows a log, because what decides about its end has changed. */
export function nudgeLog(id: string): void {
  growth.emit(id)
}

/**
 * The stored lines of a log; while `unfinished` says so, also those that come, until it no longer does.
 * Reads the file at its own pace, so a slow reader costs nothing.
 */
export async function* readLog(
  id: string,
  unfinished: () => boolean,
  signal: AbortSignal,
): AsyncGenerator<LogLine> {
  let offset = 0
  let rest: Buffer = Buffer.alloc(0)
  const chunk = Buffer.alloc(READ_BYTES)
  while (!signal.aborted) {
    const grown = waitForGrowth(id, signal)
    const more = unfinished()
    const file = await open(pathOf(id), 'r').catch(() => null)
    try {
      for (;;) {
        const { bytesRead } = (await file?.read(chunk, 0, READ_BYTES, offset)) ?? { bytesRead: 0 }
        if (bytesRead === 0) break
        offset += bytesRead
        const lines = splitLines(Buffer.concat([rest, chunk.subarray(0, bytesRead)]))
        rest = lines.rest
        yield* lines.complete
      }
    } finally {
      await file?.close()
    }
    if (!more) {
      grown.cancel()
      return
    }
    await grown.happened
  }
}

function splitLines(bytes: Buffer): { complete: LogLine[]; rest: Buffer } {
  const end = bytes.lastIndexOf(0x0a)
  if (end === -1) return { complete: [], rest: bytes }
  const complete = bytes.toString('utf8', 0, end).split('\n')
  return {
    complete: complete.flatMap(readLine),
    rest: Buffer.from(bytes.subarray(end + 1)),
  }
}

/** A line that was cut off by the end of the server or of the disk's space is left out. */
function readLine(line: string): LogLine[] {
  try {
    return [JSON.parse(line) as LogLine]
  } catch {
    return []
  }
}

function waitForGrowth(id: string, signal: AbortSignal): { happened: Promise<void>; cancel: () => void } {
  let cancel = () => {}
  const happened = new Promise<void>((resolve) => {
    cancel = () => {
      growth.off(id, cancel)
      signal.removeEventListener('abort', cancel)
      resolve()
    }
    growth.on(id, cancel)
    signal.addEventListener('abort', cancel, { once: true })
  })
  return { happened, cancel }
}
