import { open, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makePrivateDirectory, PRIVATE_FILE_MODE } from '../files.ts'
import { cleanLine } from '../text/clean-line.ts'
import type { LogLine } from './lines.ts'
import { lostLine } from './system-lines.ts'

/** A log on disk stops growing here. */
const MAX_LOG_BYTES = 20 * 1024 * 1024
/** Of these, kept for what the server itself says, and for the last line of a program. */
const SYSTEM_BYTES = 256 * 1024
/** Lines wait this long for others, so that a chatty build costs few writes. */
const FLUSH_DELAY_MS = 20
/** Lines waiting for the disk; those of a faster producer that does not wait are counted and left out. */
const MAX_PENDING_BYTES = 4 * 1024 * 1024
/** More than the longest line takes as JSON. */
const TAIL_BYTES = 256 * 1024
const NEWLINE = 0x0a

interface Listeners {
  grown: () => void
  closed: () => void
}

/** Appends to the log of one deploy or job: whole lines only, so that a reader never sees a torn one. */
export class LogWriter {
  readonly #listeners: Listeners
  readonly #file: Promise<FileHandle>
  #pending: string[] = []
  #pendingBytes = 0
  /** Of the file, with what waits for it. */
  #size = 0
  /** Lines left out since the log last said so, and why. */
  #lost = 0
  /** Lines that the disk did not take since the log last said so, and what it said. */
  #unkept = 0
  #fault: unknown = null
  /** Bytes of a torn line at the end of the file, where not even cutting it off was possible. */
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
      // It is met again by what is written.
      .catch(() => {})
  }

  /** A line of the server's own. */
  system(line: string): void {
    this.write({ ts: new Date().toISOString(), stream: 'system', line })
  }

  /** A line of a program. */
  output(stream: 'stdout' | 'stderr', line: string): void {
    this.write({ ts: new Date().toISOString(), stream, line })
  }

  /** Adds a line. A program's is left out and counted when the log is full, or when it comes faster than the disk takes it. */
  write(entry: LogLine): void {
    const isFull = this.#size >= MAX_LOG_BYTES - SYSTEM_BYTES
    if (entry.stream !== 'system' && (isFull || this.#pendingBytes > MAX_PENDING_BYTES)) {
      this.#lost++
      if (isFull && !this.#isCut) this.#cut()
      return
    }
    this.#tellLost(isFull)
    this.#append({ ...entry, line: cleanLine(entry.line) })
  }

  /** Resolves when a producer that can wait may go on. */
  async ready(): Promise<void> {
    while (this.#pendingBytes > MAX_PENDING_BYTES / 2) await this.flushed()
  }

  /** Resolves when what was written so far is in the file, or cannot be. */
  async flushed(): Promise<void> {
    this.#flush()
    await this.#flushed
  }

  /** Writes what waits and closes the file. Throws `ENOSPC` and its like when the end of the log is not in it. */
  async close(): Promise<void> {
    this.#tellLost(this.#isCut)
    await this.flushed()
    if (this.#unkept > 0) await this.#put([])
    this.#listeners.closed()
    await this.#file.then((file) => file.close())
    this.#listeners.grown()
    if (this.#unkept > 0) throw this.#fault
  }

  #cut(): void {
    this.#isCut = true
    this.#say(`the log is cut here: the output has reached its ${MAX_LOG_BYTES / 1024 / 1024} MiB`)
  }

  #tellLost(isFull: boolean): void {
    if (this.#lost === 0) return
    const lines = this.#lost === 1 ? '1 line was' : `${this.#lost} lines were`
    this.#lost = 0
    this.#say(
      isFull
        ? `${lines} left out here: the log is full`
        : `${lines} lost here: the output came faster than the disk takes it`,
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

  /** Never throws: a full disk must not end the server, and once there is room again the log goes on. */
  async #put(lines: readonly string[]): Promise<void> {
    // Before what comes after it, in one write: a kill between the two would leave a hole that nothing tells of.
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
 * Appends as many of some lines as the disk takes, none of them torn: what an earlier call could not cut off is cut off first.
 * Answers how much was appended, the bytes of a torn line that are still to be cut off, and what kept the rest off.
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

/** How many lines end in a text. */
export function countLines(text: Buffer): number {
  let count = 0
  for (let at = text.indexOf(NEWLINE); at !== -1; at = text.indexOf(NEWLINE, at + 1)) count++
  return count
}

/** Opens a log, without the line that a kill or a full disk cut off at its end. */
export async function openWhole(path: string): Promise<FileHandle> {
  const file = await open(path, 'a+', PRIVATE_FILE_MODE)
  const { size } = await file.stat()
  const tail = Buffer.alloc(Math.min(TAIL_BYTES, size))
  const { bytesRead } = await file.read(tail, 0, tail.length, size - tail.length)
  const torn = bytesRead - 1 - tail.lastIndexOf(NEWLINE, bytesRead - 1)
  if (torn > 0) await file.truncate(size - torn)
  return file
}
