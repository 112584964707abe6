import { open, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makePrivateDirectory, PRIVATE_FILE_MODE } from './files.ts'
import { cleanLine, type LogLine } from './log-lines.ts'
import { lostLine } from './logs/system-lines.ts'

/** The size limit of a log on disk. */
const MAX_LOG_BYTES = 20 * 1024 * 1024
/** How much of that is reserved for lines of the server itself and for the last line of a program. */
const SYSTEM_BYTES = 256 * 1024
/** Lines are collected for this long before they are written, so that a chatty build causes few writes. */
const FLUSH_DELAY_MS = 20
/** Limit for lines that wait for the disk. Lines of a faster program that does not wait are dropped and counted. */
const MAX_PENDING_BYTES = 4 * 1024 * 1024
/** More than the longest line as JSON. */
const TAIL_BYTES = 256 * 1024
const NEWLINE = 0x0a

interface Listeners {
  grown: () => void
  closed: () => void
}

/** Appends to the log of one deploy or job. Writes only whole lines, so that a reader never sees a torn one. */
export class LogWriter {
  readonly #listeners: Listeners
  readonly #file: Promise<FileHandle>
  #pending: string[] = []
  #pendingBytes = 0
  /** The size of the file including the pending lines. */
  #size = 0
  /** Lines dropped since the log last reported them. */
  #lost = 0
  /** Lines that the disk did not accept since the log last reported them, and the error. */
  #unkept = 0
  #fault: unknown = null
  /** Bytes of a torn line at the end of the file that could not be cut off yet. */
  #torn = 0
  #isCut = false
  #timer: NodeJS.Timeout | undefined
  #flushed: Promise<void>

  constructor(path: string, listeners: Listeners) {
    this.#listeners = listeners
    makePrivateDirectory(dirname(path))
    this.#file = openWhole(path)
    this.#flushed = this.#file
      .then(async (file) => {
        this.#size += (await file.stat()).size
      })
      // The next write fails with the same error.
      .catch(() => {})
  }

  /** Adds a line of the server itself. */
  system(line: string): void {
    this.write({ ts: new Date().toISOString(), stream: 'system', line })
  }

  /** Adds a line of a program. */
  output(stream: 'stdout' | 'stderr', line: string): void {
    this.write({ ts: new Date().toISOString(), stream, line })
  }

  /**
   * Adds a line. A program's line is dropped and counted when the log is full, or when lines arrive faster than the disk
   * accepts them.
   */
  write(entry: LogLine): void {
    const isFull = this.#size >= MAX_LOG_BYTES - SYSTEM_BYTES
    if (entry.stream !== 'system' && (isFull || this.#pendingBytes > MAX_PENDING_BYTES)) {
      this.#lost++
      if (isFull && !this.#isCut) this.#cut()
      return
    }
    this.#reportLost(isFull)
    this.#append({ ...entry, line: cleanLine(entry.line) })
  }

  /** Resolves when a program that can wait may continue. */
  async ready(): Promise<void> {
    while (this.#pendingBytes > MAX_PENDING_BYTES / 2) await this.flushed()
  }

  /** Resolves when everything written so far is in the file, or has failed to be. */
  async flushed(): Promise<void> {
    this.#flush()
    await this.#flushed
  }

  /**
   * Writes the pending lines and closes the file. Throws the disk's error, such as `ENOSPC`, when the end of the log could
   * not be written.
   */
  async close(): Promise<void> {
    this.#reportLost(this.#isCut)
    await this.flushed()
    if (this.#unkept > 0) await this.#put([])
    this.#listeners.closed()
    await this.#file.then((file) => file.close())
    this.#listeners.grown()
    if (this.#unkept > 0) throw this.#fault
  }

  #cut(): void {
    this.#isCut = true
    this.#say(
      `the log is cut off here: the output has reached the limit of ${MAX_LOG_BYTES / 1024 / 1024} MiB`,
    )
  }

  #reportLost(isFull: boolean): void {
    if (this.#lost === 0) return
    const lines = this.#lost === 1 ? '1 line was' : `${this.#lost} lines were`
    this.#lost = 0
    this.#say(
      isFull
        ? `${lines} left out here: the log is full`
        : `${lines} lost here: the output came faster than it can be stored`,
    )
  }

  #say(line: string): void {
    this.#append({ ts: new Date().toISOString(), stream: 'system', line })
  }

  #append(line: LogLine): void {
    const text = textOf(line)
    const bytes = Buffer.byteLength(text)
    if (this.#size + bytes > MAX_LOG_BYTES) return
    this.#size += bytes
    this.#pendingBytes += bytes
    this.#pending.push(text)
    this.#timer ??= setTimeout(() => this.#flush(), FLUSH_DELAY_MS)
  }

  #flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#pending.length === 0) return
    const lines = this.#pending
    this.#pending = []
    this.#flushed = this.#flushed.then(() => this.#put(lines))
  }

  /** Never throws: a full disk must not stop the server, and when there is space again the log continues. */
  async #put(lines: readonly string[]): Promise<void> {
    // Written in front of the next lines, in one write: a kill between two writes would leave an unreported gap.
    const note = this.#unkept === 0 ? [] : [textOf(lostLine(this.#unkept, 'the disk did not take it'))]
    const waiting = Buffer.from(lines.join(''))
    const text = note.length === 0 ? waiting : Buffer.concat([Buffer.from(note.join('')), waiting])
    const { kept, torn, fault } = await appendLines(this.#file, this.#torn, text)
    this.#torn = torn
    this.#size += kept.bytes - waiting.length
    this.#pendingBytes -= waiting.length
    if (kept.lines > 0) this.#unkept = 0
    this.#unkept += lines.length - Math.max(0, kept.lines - note.length)
    this.#fault = fault
    if (kept.lines > 0) this.#listeners.grown()
  }
}

function textOf(line: LogLine): string {
  return `${JSON.stringify(line)}\n`
}

/**
 * Appends as many whole lines as the disk accepts. First cuts off the torn line that an earlier call left. Returns how much
 * was appended, how many bytes of a torn line are still to be cut off, and the error that kept the rest out.
 */
async function appendLines(
  opened: Promise<FileHandle>,
  torn: number,
  bytes: Buffer,
): Promise<{ kept: { bytes: number; lines: number }; torn: number; fault: unknown }> {
  let written = 0
  let half = torn
  try {
    const file = await opened
    await cutOff(file, half)
    half = 0
    while (written < bytes.length) written += (await file.write(bytes, written)).bytesWritten
    return { kept: { bytes: written, lines: countLines(bytes) }, torn: 0, fault: null }
  } catch (fault) {
    const whole = bytes.subarray(0, bytes.subarray(0, written).lastIndexOf(NEWLINE) + 1)
    half += written - whole.length
    const isCut = await opened
      .then((file) => cutOff(file, half))
      .then(
        () => true,
        () => false,
      )
    return { kept: { bytes: whole.length, lines: countLines(whole) }, torn: isCut ? 0 : half, fault }
  }
}

async function cutOff(file: FileHandle, bytes: number): Promise<void> {
  if (bytes > 0) await file.truncate((await file.stat()).size - bytes)
}

/** Counts the ends of lines in a text. */
export function countLines(text: Buffer): number {
  let count = 0
  for (let at = text.indexOf(NEWLINE); at !== -1; at = text.indexOf(NEWLINE, at + 1)) count++
  return count
}

/** Opens a log and removes a last line that was cut off by a kill or a full disk. */
export async function openWhole(path: string): Promise<FileHandle> {
  const file = await open(path, 'a+', PRIVATE_FILE_MODE)
  const { size } = await file.stat()
  const tail = Buffer.alloc(Math.min(TAIL_BYTES, size))
  const { bytesRead } = await file.read(tail, 0, tail.length, size - tail.length)
  const torn = bytesRead - 1 - tail.lastIndexOf(NEWLINE, bytesRead - 1)
  if (torn > 0) await file.truncate(size - torn)
  return file
}
