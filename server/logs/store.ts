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

/** Lines wait this long for others, so that a chatty program costs few writes. */
const FLUSH_DELAY_MS = 20
/** Lines that wait for the disk; those of a faster producer are counted and left out. */
const MAX_PENDING_BYTES = 16 * 1024 * 1024
/** A disk that took nothing is tried again after this. */
const RETRY_MS = 1_000
/** Stored lines that all who follow a log share: more than most of them ask for. */
const RECENT_LINES = 10_000
const RECENT_BYTES = 4 * 1024 * 1024

/** Where a service's log stood at one moment: what is stored, and the place in the ring that follows it. */
export interface Joint {
  slices: Slice[]
  ring: LineRing
  position: number
}

/**
 * The log of one service: what its instances print and what the server says of them, in the order in which it was taken
 * in. Lines go to the disk and, while somebody follows, to a ring in memory, whose lines are counted as they are settled: a
 * reader goes from one to the other at an exact place. What says how many a disk did not take is on the disk alone.
 */
export class ServiceLog {
  /** Rung when more is stored. */
  readonly grown = new Bell()
  /** Aborts when the service is no more. */
  readonly removed: AbortSignal
  readonly #removal = new AbortController()
  readonly #directory: string
  readonly #end: LogEnd
  #ring: { lines: LineRing; loaded: Promise<void> } | null = null
  #followers = 0
  /** Lines that are not settled yet. */
  #waiting: string[] = []
  #waitingBytes = 0
  /** Lines that are on the disk, or could not be put there, counted from the start of the server. */
  #settled = 0
  /** Lines that were left out since the log last said so, by their instance. */
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

  /** Adds lines. Those that come faster than the disk takes them are left out, and counted in a line of their own. */
  append(lines: readonly LogLine[]): void {
    if (this.removed.aborted || lines.length === 0) return
    if (this.#waitingBytes > MAX_PENDING_BYTES) {
      for (const { instance } of lines) this.lose(1, instance)
      return
    }
    this.#tellLost()
    this.#add(lines.map(storedLine))
  }

  /** Resolves when so little waits for the disk that what is added next is not left out. */
  async room(): Promise<void> {
    while (this.#waitingBytes > MAX_PENDING_BYTES / 2) await this.flushed()
  }

  /** Counts lines of an instance that are left out here; the log says how many as soon as it can. */
  lose(count: number, instance: string | undefined): void {
    this.#lost.set(instance, (this.#lost.get(instance) ?? 0) + count)
    this.#timer ??= setTimeout(() => this.#flush(), FLUSH_DELAY_MS)
  }

  /** Resolves when what was added before is on the disk, or could not be put there. */
  async flushed(): Promise<void> {
    this.#flush()
    await this.#work
  }

  /** What is stored now, and from where on the ring goes on. Until `leave` is called the ring is kept. */
  async join(): Promise<Joint> {
    this.#followers++
    await this.#end.opened()
    this.#ring ??= this.#openRing()
    await this.#ring.loaded
    return { slices: this.#end.slices(), ring: this.#ring.lines, position: this.#settled }
  }

  /** To be called once for each `join`. */
  leave(): void {
    this.#followers--
    if (this.#followers === 0) this.#ring = null
  }

  /** What is stored, with all that was added before. */
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

  /** Closes the part that is written, so that it can be packed. */
  async closePart(): Promise<void> {
    this.#work = this.#work.then(() => this.#end.close())
    await this.#work
  }

  /** The part that is written now; null when none is. */
  get openPart(): string | null {
    return this.#end.path
  }

  /** The day on which that part was begun. */
  get openDay(): string | null {
    return this.#end.day
  }

  /** Writes what waits and closes the file. */
  async close(): Promise<void> {
    await this.flushed()
    await this.closePart()
  }

  /** Removes the log and ends who reads it. */
  async remove(): Promise<void> {
    this.#removal.abort()
    clearTimeout(this.#timer)
    this.#lost.clear()
    this.#waiting = []
    this.#waitingBytes = 0
    await this.closePart()
    await rm(this.#directory, { recursive: true, force: true })
  }

  #tellLost(): void {
    if (this.#lost.size === 0) return
    const why = 'the output came faster than it can be kept'
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
    this.#timer ??= setTimeout(() => this.#flush(), FLUSH_DELAY_MS)
  }

  /** A ring of what is not settled, before which the recent stored lines are put. */
  #openRing(): { lines: LineRing; loaded: Promise<void> } {
    const lines = new LineRing(this.#settled)
    lines.push(this.#waiting)
    const loaded = readTail(this.#end.slices(), null, RECENT_LINES, new Allowance(RECENT_BYTES)).then(
      ({ blocks, count, isCut }) => lines.prepend(blocks, !isCut && count < RECENT_LINES),
      (error: unknown) => log.warn('a service log cannot be read', { error: messageOf(error) }),
    )
    return { lines, loaded }
  }

  #flush(): void {
    this.#tellLost()
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#work = this.#work.then(() => this.#write())
  }

  /** Writes what waits; what comes meanwhile is for the next. */
  async #write(): Promise<void> {
    let left = this.#waiting.length
    // None waits any more once the log was removed.
    while (left > 0 && this.#waiting.length > 0) left -= await this.#writePiece(left)
  }

  /**
   * Writes what there is room for, of so many lines; answers how many are settled. A disk that takes nothing loses all of
   * them, is told of once, and tried again later.
   */
  async #writePiece(most: number): Promise<number> {
    let count = most
    try {
      if (this.#fullSince !== null && performance.now() - this.#fullSince < RETRY_MS) this.#giveUp(most)
      else {
        const lost =
          this.#unkept === 0 ? [] : [storedLine(lostLine(this.#unkept, 'the disk did not take it'))]
        // Before what comes after it, in one write: a kill between the two would leave a hole that nothing tells of.
        await this.#end.append([...lost, ...this.#waiting.slice(0, most)], (kept) => {
          this.#unkept = 0
          this.#settle((count = kept - lost.length))
        })
        this.grown.ring()
        if (this.#fullSince !== null) this.#noteRoom()
      }
    } catch (error) {
      this.#giveUp(most)
      if (this.#fullSince === null) this.#sayFull(messageOf(error))
      this.#fullSince = performance.now()
    }
    return count
  }

  /** Lets go of the oldest lines that wait. In one turn: what is stored and where the ring goes on belong together. */
  #settle(count: number): void {
    this.#settled += count
    for (const text of this.#waiting.splice(0, count)) this.#waitingBytes -= text.length
  }

  #giveUp(count: number): void {
    // A text has no such quotes; what the server says is not output.
    this.#unkept += this.#waiting.slice(0, count).filter((text) => !text.includes('"stream":"system"')).length
    this.#settle(count)
  }

  #sayFull(error: string): void {
    log.error('a service log cannot be kept; following it goes on', { directory: this.#directory, error })
    this.#add([storedLine(systemLine(`from here on lines are shown but not kept: ${error}`))])
  }

  #noteRoom(): void {
    log.info('the disk takes a service log again', { directory: this.#directory })
    this.#fullSince = null
  }
}
