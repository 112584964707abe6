import { rm } from 'node:fs/promises'
import { messageOf } from '../errors.ts'
import { logger } from '../log.ts'
import { Bell } from '../work/bell.ts'
import { lostLine, storedLine, systemLine, type LogLine } from './lines.ts'
import { LogEnd } from './log-end.ts'
import type { Slice } from './parts.ts'
import { LineRing } from './ring.ts'
import { Allowance, readTail } from './tail.ts'

const log = logger('logs')

/** Lines are collected for this long before they are written, so that a chatty program causes few writes. */
const FLUSH_DELAY_MS = 20
/** Limit for lines that wait for the disk. Lines of a faster program are dropped and counted. */
const MAX_PENDING_BYTES = 16 * 1024 * 1024
/** A disk that failed is tried again after this time. */
const RETRY_MS = 1_000
/** Stored lines that all followers of a log share: more than most of them ask for. */
const RECENT_LINES = 10_000
const RECENT_BYTES = 4 * 1024 * 1024

/** The state of a service's log at one moment: the stored parts, and the position in the ring that follows them. */
export interface Joint {
  slices: Slice[]
  ring: LineRing
  position: number
}

/**
 * The log of one service: what its instances print and what the server says about them, in the order of arrival. Lines go to
 * the disk and, while somebody follows, to a ring in memory. Ring positions count settled lines, so that a reader continues
 * from the disk to the ring at an exact position. The line that says how many a disk did not accept is only on the disk.
 */
export class ServiceLog {
  /** Rung when more lines have been stored. */
  readonly grown = new Bell()
  /** Aborts when the service is deleted. */
  readonly removed: AbortSignal
  readonly #removal = new AbortController()
  readonly #directory: string
  readonly #end: LogEnd
  #ring: { lines: LineRing; loaded: Promise<void> } | null = null
  #followers = 0
  readonly #listeners = new Set<(lines: readonly string[]) => void>()
  /** Lines that are not settled yet: neither stored nor given up. */
  #waiting: string[] = []
  #waitingBytes = 0
  /** How many lines were stored or given up since the server started. */
  #settled = 0
  /** Lines dropped since the log last reported them, by instance. */
  readonly #lost = new Map<string | undefined, number>()
  #unkept = 0
  #fullSince: number | null = null
  #timer: NodeJS.Timeout | undefined
  #work: Promise<void> = Promise.resolve()

  constructor(directory: string, maxPartBytes: number, partClosed: () => void) {
    this.#directory = directory
    this.#end = new LogEnd(directory, maxPartBytes, partClosed)
    this.removed = this.#removal.signal
  }

  /** Adds lines. Lines that arrive faster than the disk accepts them are dropped, and a line of the log says how many. */
  append(lines: readonly LogLine[]): void {
    if (this.removed.aborted || lines.length === 0) return
    if (this.#waitingBytes > MAX_PENDING_BYTES) {
      for (const { instance } of lines) this.lose(1, instance)
      return
    }
    this.#reportLost()
    this.#add(lines.map(storedLine))
  }

  /** Resolves when so few lines wait for the disk that the next ones will not be dropped. */
  async room(): Promise<void> {
    while (this.#waitingBytes > MAX_PENDING_BYTES / 2) await this.flushed()
  }

  /** Counts lines of an instance that the caller dropped. The log says how many as soon as possible. */
  lose(count: number, instance: string | undefined): void {
    this.#lost.set(instance, (this.#lost.get(instance) ?? 0) + count)
    this.#timer ??= setTimeout(() => this.#flush(), FLUSH_DELAY_MS)
  }

  /** Resolves when all lines added before are stored or given up. */
  async flushed(): Promise<void> {
    this.#flush()
    await this.#work
  }

  /** Returns what is stored now, and where the ring continues. The ring is kept until `leave` is called. */
  async join(): Promise<Joint> {
    this.#followers++
    await this.#end.opened()
    this.#ring ??= this.#openRing()
    await this.#ring.loaded
    return { slices: this.#end.slices(), ring: this.#ring.lines, position: this.#settled }
  }

  /** Must be called once for each `join`. */
  leave(): void {
    this.#followers--
    if (this.#followers === 0) this.#ring = null
  }

  /**
   * Returns what is stored now, and passes all later lines to a listener as they are added, until `stop` is called. Unlike
   * `join` it keeps no lines in memory. The listener must not throw.
   */
  async listen(listener: (lines: readonly string[]) => void): Promise<{ slices: Slice[]; stop: () => void }> {
    await this.#end.opened()
    // In one turn of the event loop: lines that are not settled are in no part yet.
    const slices = this.#end.slices()
    if (this.#waiting.length > 0) listener([...this.#waiting])
    this.#listeners.add(listener)
    return { slices, stop: () => this.#listeners.delete(listener) }
  }

  /** The stored parts, including all lines added before. */
  async stored(): Promise<Slice[]> {
    await this.flushed()
    await this.#end.opened()
    return this.#end.slices()
  }

  /** The number of the line that will be stored next. */
  async end(): Promise<number> {
    await this.#end.opened()
    return this.#end.next
  }

  /** Closes the part being written, so that it can be packed. */
  async closePart(): Promise<void> {
    this.#work = this.#work.then(() => this.#end.close())
    await this.#work
  }

  /** The part being written; null when there is none. */
  get openPart(): string | null {
    return this.#end.path
  }

  /** The day on which that part was begun. */
  get openDay(): string | null {
    return this.#end.day
  }

  /** Writes all pending lines and closes the file. */
  async close(): Promise<void> {
    await this.flushed()
    await this.closePart()
  }

  /** Removes the log and ends its readers. */
  async remove(): Promise<void> {
    this.#removal.abort()
    clearTimeout(this.#timer)
    this.#lost.clear()
    this.#waiting = []
    this.#waitingBytes = 0
    await this.closePart()
    await rm(this.#directory, { recursive: true, force: true })
  }

  #reportLost(): void {
    if (this.#lost.size === 0) return
    const why = 'the output came faster than it can be stored'
    const lines = [...this.#lost].map(([instance, count]) => lostLine(count, why, instance))
    this.#lost.clear()
    this.#add(lines.map(storedLine))
  }

  #add(texts: string[]): void {
    for (const text of texts) {
      this.#waiting.push(text)
      this.#waitingBytes += text.length
    }
    this.#ring?.lines.push(texts)
    for (const listener of this.#listeners) listener(texts)
    this.#timer ??= setTimeout(() => this.#flush(), FLUSH_DELAY_MS)
  }

  /** Creates a ring with the lines that are not settled, and loads the recent stored lines in front of them. */
  #openRing(): { lines: LineRing; loaded: Promise<void> } {
    const lines = new LineRing(this.#settled)
    lines.push(this.#waiting)
    const loaded = readTail(this.#end.slices(), null, RECENT_LINES, new Allowance(RECENT_BYTES)).then(
      ({ blocks, count, isCut }) => lines.prepend(blocks, !isCut && count < RECENT_LINES),
      (error: unknown) => log.warn('a service log could not be read', { error: messageOf(error) }),
    )
    return { lines, loaded }
  }

  #flush(): void {
    this.#reportLost()
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#work = this.#work.then(() => this.#write())
  }

  /** Writes the lines that wait now. Lines added meanwhile are left to the next call. */
  async #write(): Promise<void> {
    let left = this.#waiting.length
    // After the log was removed, no lines wait any more.
    while (left > 0 && this.#waiting.length > 0) left -= await this.#writePiece(left)
  }

  /**
   * Writes as many of the first `max` lines as fit into the part. Returns how many are settled. When the disk fails, all of
   * them are given up, the failure is reported once, and the disk is tried again later.
   */
  async #writePiece(max: number): Promise<number> {
    let count = max
    try {
      if (this.#fullSince !== null && performance.now() - this.#fullSince < RETRY_MS) this.#giveUp(max)
      else {
        const lost =
          this.#unkept === 0 ? [] : [storedLine(lostLine(this.#unkept, 'the disk did not take it'))]
        // Written in front of the next lines, in one write: a kill between two writes would leave an unreported gap.
        const isWhole = await this.#end.append([...lost, ...this.#waiting.slice(0, max)], (kept) => {
          this.#unkept = 0
          this.#settle((count = kept - lost.length))
        })
        this.grown.ring()
        // A disk that takes a part of it is still full.
        if (isWhole && this.#fullSince !== null) this.#reportSpace()
      }
    } catch (error) {
      this.#giveUp(max)
      if (this.#fullSince === null) this.#reportFull(messageOf(error))
      this.#fullSince = performance.now()
    }
    return count
  }

  /**
   * Removes the oldest waiting lines. Synchronous, because the stored parts and the ring's position must change together.
   */
  #settle(count: number): void {
    this.#settled += count
    for (const text of this.#waiting.splice(0, count)) this.#waitingBytes -= text.length
  }

  #giveUp(count: number): void {
    // Unescaped quotes never come from a line's text. Lines of the server itself are not output, so they are not counted.
    this.#unkept += this.#waiting.slice(0, count).filter((text) => !text.includes('"stream":"system"')).length
    this.#settle(count)
  }

  #reportFull(error: string): void {
    log.error('a service log cannot be stored; followers still get its lines', {
      directory: this.#directory,
      error,
    })
    this.#add([storedLine(systemLine(`from here on, lines are shown but not stored: ${error}`))])
  }

  #reportSpace(): void {
    log.info('a service log can be stored again', { directory: this.#directory })
    this.#fullSince = null
  }
}
