import { dirname } from 'node:path'
import { makePrivateDirectory } from '../files.ts'
import { cleanLine } from '../text/clean-line.ts'
import { LineFile } from './line-file.ts'
import { lostLine, storedLine, systemLine, type LogLine } from './lines.ts'

/** A log on disk stops growing here. */
const MAX_LOG_BYTES = 20 * 1024 * 1024
/** Of these, kept for what the server itself says, and for the last line of a program. */
const SYSTEM_BYTES = 256 * 1024
/** Lines wait this long for others, so that a chatty build costs few writes. */
const FLUSH_DELAY_MS = 20
/** Lines waiting for the disk; those of a faster producer that does not wait are counted and left out. */
const MAX_PENDING_BYTES = 4 * 1024 * 1024

interface Listeners {
  grown: () => void
  closed: () => void
}

/** Appends to the log of one deploy or job: whole lines only, so that a reader never sees a torn one. */
export class LogWriter {
  readonly #listeners: Listeners
  readonly #file: Promise<LineFile>
  #pending: string[] = []
  #pendingBytes = 0
  /** Of the file, with what waits for it. */
  #size = 0
  /** Lines left out since the log last said so, and why. */
  #lost = 0
  /** Lines that the disk did not take since the log last said so, and what it said. */
  #unkept = 0
  #fault: unknown = null
  #isCut = false
  #timer: NodeJS.Timeout | undefined
  #flushed: Promise<void>

  constructor(path: string, listeners: Listeners) {
    this.#listeners = listeners
    makePrivateDirectory(dirname(path))
    this.#file = LineFile.open(path)
    this.#flushed = this.#file
      .then(async (file) => {
        this.#size += await file.size()
      })
      // It is met again by what is written.
      .catch(() => {})
  }

  /** A line of the server's own. */
  system(line: string): void {
    this.write(systemLine(line))
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
    const mebibytes = MAX_LOG_BYTES / 1024 / 1024
    this.#append(systemLine(`the log is cut here: the output has reached its ${mebibytes} MiB`))
  }

  #tellLost(isFull: boolean): void {
    if (this.#lost === 0) return
    const lines = this.#lost === 1 ? '1 line was' : `${this.#lost} lines were`
    this.#append(
      isFull
        ? systemLine(`${lines} left out here: the log is full`)
        : lostLine(this.#lost, 'the output came faster than the disk takes it'),
    )
    this.#lost = 0
  }

  #append(line: LogLine): void {
    const text = storedLine(line)
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
    const note = this.#unkept === 0 ? [] : [storedLine(lostLine(this.#unkept, 'the disk did not take it'))]
    const waiting = Buffer.from(lines.join(''))
    const text = note.length === 0 ? waiting : Buffer.concat([Buffer.from(note.join('')), waiting])
    const kept = await this.#file.then(
      (file) => file.append(text),
      (fault: unknown) => ({ bytes: 0, lines: 0, fault }),
    )
    this.#size += kept.bytes - waiting.length
    this.#pendingBytes -= waiting.length
    if (kept.lines > 0) this.#unkept = 0
    this.#unkept += lines.length - Math.max(0, kept.lines - note.length)
    this.#fault = kept.fault
    if (kept.lines > 0) this.#listeners.grown()
  }
}
