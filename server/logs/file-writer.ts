import { dirname } from 'node:path'
import { makePrivateDirectory } from '../files.ts'
import { cleanLine } from '../text/clean-line.ts'
import { LineFile } from './line-file.ts'
import { lostLine, storedLine, systemLine, type LogLine } from './lines.ts'
import { StepLog, storedStep } from './steps.ts'

/** The size limit of a log on disk. */
const MAX_LOG_BYTES = 20 * 1024 * 1024
/** How much of that is reserved for lines of the server itself and for the last line of a program. */
const SYSTEM_BYTES = 256 * 1024
/** Lines are collected for this long before they are written, so that a chatty build causes few writes. */
const FLUSH_DELAY_MS = 20
/** Limit for lines that wait for the disk. Lines of a faster program that does not wait are dropped and counted. */
const MAX_PENDING_BYTES = 4 * 1024 * 1024

interface Listeners {
  grown: () => void
  closed: () => void
}

/** Appends to the log of one deploy or job. Writes only whole lines, so that a reader never sees a torn one. */
export class LogWriter {
  /** The steps of the deploy; a job has none. */
  readonly steps = new StepLog((step) => this.#append(storedStep(step)))
  readonly #listeners: Listeners
  readonly #file: Promise<LineFile>
  #pending: string[] = []
  #pendingBytes = 0
  /** The size of the file including the pending lines. */
  #size = 0
  /** Lines dropped since the log last reported them. */
  #lost = 0
  /** Lines that the disk did not accept since the log last reported them, and the error. */
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
      // The next write fails with the same error.
      .catch(() => {})
  }

  /** Adds a line of the server itself. */
  system(line: string): void {
    this.write(systemLine(line))
  }

  /** Adds a line of a program; `buildStep` is the number of the build's step that printed it. */
  output(stream: 'stdout' | 'stderr', line: string, buildStep?: number): void {
    const step = buildStep === undefined ? undefined : this.steps.builtId(buildStep)
    this.write({ ts: new Date().toISOString(), stream, line, ...(step !== undefined && { step }) })
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
    const step = entry.step ?? this.steps.current
    this.#append(storedLine({ ...entry, line: cleanLine(entry.line), ...(step !== undefined && { step }) }))
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
    const mebibytes = MAX_LOG_BYTES / 1024 / 1024
    this.#append(
      storedLine(systemLine(`the log is cut off here: the output has reached the limit of ${mebibytes} MiB`)),
    )
  }

  #reportLost(isFull: boolean): void {
    if (this.#lost === 0) return
    const lines = this.#lost === 1 ? '1 line was' : `${this.#lost} lines were`
    const note = isFull
      ? systemLine(`${lines} left out here: the log is full`)
      : lostLine(this.#lost, 'the output came faster than it can be stored')
    this.#append(storedLine(note))
    this.#lost = 0
  }

  #append(text: string): void {
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
