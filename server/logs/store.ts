import { createReadStream } from 'node:fs'
import { open, rm, type FileHandle } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { Bell } from '../bell.ts'
import { timestamp } from '../clock.ts'
import { messageOf } from '../errors.ts'
import { makePrivateDirectory, PRIVATE_FILE_MODE } from '../files.ts'
import type { LogLine } from '../log-lines.ts'
import { openWhole } from '../log-writer.ts'
import { logger } from '../log.ts'
import { dayOf, listParts, partPath, readPart, type Slice } from './parts.ts'
import { LineRing } from './ring.ts'
import { Allowance, readTail } from './tail.ts'

const log = logger('logs')

/** Lines wait this long for others, so that a chatty program costs few writes. */
const FLUSH_DELAY_MS = 20
/** Lines that wait for the disk; those of a faster producer are counted and left out. */
const MAX_PENDING_BYTES = 32 * 1024 * 1024
/** A disk that took nothing is tried again after this. */
const RETRY_MS = 1_000
/** Stored lines that all who follow a log share: more than most of them ask for. */
const RECENT_LINES = 10_000
const RECENT_BYTES = 4 * 1024 * 1024
const NEWLINE = 0x0a

/** Where a service's log stood at one moment: what is stored, and the place in the ring that follows it. */
export interface Joint {
  slices: Slice[]
  ring: LineRing
  position: number
}

interface OpenPart {
  handle: FileHandle
  path: string
  day: string
  bytes: number
}

/**
 * The log of one service: what its instances print and what the server says of them, in the order in which it was taken
 * in. Lines go to the disk and, while somebody follows, to a ring in memory; both count the same lines, so that a reader
 * goes from one to the other at an exact place.
 */
export class ServiceLog {
  /** Rung when more is stored. */
  readonly grown = new Bell()
  /** Aborts when the service is no more. */
  readonly removed: AbortSignal
  readonly #removal = new AbortController()
  readonly #directory: string
  readonly #maxPartBytes: number
  readonly #partClosed: () => void
  #ring: { lines: LineRing; loaded: Promise<void> } | null = null
  #followers = 0
  /** Lines that are not settled yet. */
  #waiting: string[] = []
  #waitingBytes = 0
  /** Lines that are on the disk, or could not be put there, counted from the start of the server. */
  #settled = 0
  #lost = 0
  #unkept = 0
  #fullSince: number | null = null
  #file: OpenPart | null = null
  /** The number of the next line in the store; null until the parts were looked at. */
  #next: number | null = null
  #opening: Promise<void> | null = null
  /** Of the part that is written, also while it is being opened: nobody else may take it for a closed one. */
  #path: string | null = null
  #timer: NodeJS.Timeout | undefined
  #work: Promise<void> = Promise.resolve()

  constructor(directory: string, maxPartBytes: number, partClosed: () => void) {
    this.#directory = directory
    this.#maxPartBytes = maxPartBytes
    this.#partClosed = partClosed
    this.removed = this.#removal.signal
  }

  /** Adds lines. Those that come faster than the disk takes them are left out, and counted in a line of their own. */
  append(lines: readonly LogLine[]): void {
    if (this.removed.aborted || lines.length === 0) return
    if (this.#waitingBytes > MAX_PENDING_BYTES) return this.lose(lines.length)
    this.#tellLost()
    this.#add(lines.map((line) => `${JSON.stringify(line)}\n`))
  }

  /** Counts lines that are left out here; the log says how many as soon as it can. */
  lose(count: number): void {
    this.#lost += count
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
    await this.#opened()
    this.#ring ??= this.#openRing()
    await this.#ring.loaded
    return { slices: this.#slices(), ring: this.#ring.lines, position: this.#settled }
  }

  /** To be called once for each `join`. */
  leave(): void {
    this.#followers--
    if (this.#followers === 0) this.#ring = null
  }

  /** What is stored, with all that was added before. */
  async stored(): Promise<Slice[]> {
    await this.flushed()
    await this.#opened()
    return this.#slices()
  }

  /** The number of the line that will be stored next. */
  async end(): Promise<number> {
    await this.#opened()
    return this.#next!
  }

  /** Closes the part that is written, so that it can be packed. */
  async closePart(): Promise<void> {
    this.#work = this.#work.then(() => this.#close())
    await this.#work
  }

  /** The part that is written now; null when none is. */
  get openPart(): string | null {
    return this.#path
  }

  /** The day on which that part was begun. */
  get openDay(): string | null {
    return this.#file?.day ?? null
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
    this.#lost = 0
    this.#waiting = []
    this.#waitingBytes = 0
    await this.closePart()
    await rm(this.#directory, { recursive: true, force: true })
  }

  #tellLost(): void {
    if (this.#lost === 0) return
    const line = lostLine(this.#lost, 'the output came faster than it can be kept')
    this.#lost = 0
    this.#add([`${JSON.stringify(line)}\n`])
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
    const loaded = readTail(this.#slices(), null, RECENT_LINES, new Allowance(RECENT_BYTES)).then(
      ({ blocks, count, isCut }) => lines.prepend(blocks, !isCut && count < RECENT_LINES),
      (error: unknown) => log.warn('a service log cannot be read', { error: messageOf(error) }),
    )
    return { lines, loaded }
  }

  #slices(): Slice[] {
    return listParts(this.#directory).map((part) => ({
      ...part,
      bytes: part.path === this.#file?.path ? this.#file.bytes : null,
    }))
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
   * Writes what the part has room for, of so many lines; answers how many are settled. A disk that takes nothing loses all
   * of them, is told of once, and tried again later.
   */
  async #writePiece(most: number): Promise<number> {
    let count = most
    try {
      if (this.#fullSince !== null && performance.now() - this.#fullSince < RETRY_MS) this.#settle(most, 0)
      else {
        const file = await this.#current()
        const lines = this.#waiting.slice(0, most)
        count = countWithin(lines, this.#maxPartBytes - file.bytes)
        const text = Buffer.from(lines.slice(0, count).join(''))
        await appendWhole(file, text)
        this.#settle(count, text.length)
        if (this.#fullSince !== null) this.#sayRoom()
      }
    } catch (error) {
      count = most
      this.#settle(most, 0)
      if (this.#fullSince === null) this.#sayFull(messageOf(error))
      this.#fullSince = performance.now()
    }
    if (this.#file && this.#file.bytes >= this.#maxPartBytes) await this.#close()
    return count
  }

  /** Lets go of the oldest lines that wait. In one turn: what is stored and where the ring goes on belong together. */
  #settle(count: number, bytes: number): void {
    this.#settled += count
    for (const text of this.#waiting.splice(0, count)) this.#waitingBytes -= text.length
    if (bytes === 0) this.#unkept += count
    else {
      this.#next! += count
      this.#file!.bytes += bytes
      this.grown.ring()
    }
  }

  #sayFull(error: string): void {
    log.error('a service log cannot be kept; following it goes on', { directory: this.#directory, error })
    this.#add([`${JSON.stringify(systemLine(`from here on lines are shown but not kept: ${error}`))}\n`])
  }

  #sayRoom(): void {
    log.info('the disk takes a service log again', { directory: this.#directory })
    this.#add([`${JSON.stringify(lostLine(this.#unkept, 'the disk did not take it'))}\n`])
    this.#fullSince = null
    this.#unkept = 0
  }

  /** The part to write to: the last one when it is of today and not full, else a new one. */
  async #current(): Promise<OpenPart> {
    await this.#opened()
    const day = dayOf(Date.now())
    if (this.#file && this.#file.day !== day) await this.#close()
    if (!this.#file) {
      makePrivateDirectory(this.#directory)
      const path = partPath(this.#directory, this.#next!, day)
      this.#path = path
      this.#file = { handle: await open(path, 'a', PRIVATE_FILE_MODE), path, day, bytes: 0 }
    }
    return this.#file
  }

  async #close(): Promise<void> {
    const file = this.#file
    this.#file = null
    this.#path = null
    // What a fault of the disk leaves of it is found by the next look.
    await file?.handle.close().catch(() => {})
    if (file) this.#partClosed()
  }

  /** Finds the end of what an earlier run has stored: once, as a torn end is cut off then, and a later one may be growing. */
  #opened(): Promise<void> {
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = null
      throw error
    })
    return this.#opening
  }

  async #open(): Promise<void> {
    const last = listParts(this.#directory).at(-1)
    if (!last) {
      this.#next = 0
      return
    }
    const isGrowing = !last.isPacked && last.day === dayOf(Date.now())
    const handle = last.isPacked ? null : await openWhole(last.path)
    const content = last.isPacked ? null : await readPart({ ...last, bytes: null })
    const lines = last.isPacked ? await countPacked(last.path) : content ? countLines(content) : 0
    if (!handle || !isGrowing || !content || content.length >= this.#maxPartBytes) await handle?.close()
    else {
      this.#path = last.path
      this.#file = { handle, path: last.path, day: last.day, bytes: content.length }
    }
    this.#next = last.first + lines
  }
}

/** How many lines go into so many bytes; one always does, so that a part is longer by no more than a line. */
function countWithin(lines: readonly string[], bytes: number): number {
  let length = 0
  const end = lines.findIndex((line) => (length += Buffer.byteLength(line)) > bytes)
  return end === -1 ? lines.length : end + 1
}

/** Appends whole lines or nothing: what a full disk took of them is cut off again. */
async function appendWhole({ handle, bytes }: OpenPart, text: Buffer): Promise<void> {
  try {
    await handle.appendFile(text)
  } catch (error) {
    await handle.truncate(bytes).catch(() => {})
    throw error
  }
}

/** How many lines a packed part has that can be read; one at least, so that the next part gets another name. */
async function countPacked(path: string): Promise<number> {
  let count = 0
  await pipeline(createReadStream(path), createGunzip(), async (pieces: AsyncIterable<Buffer>) => {
    for await (const piece of pieces) count += countLines(piece)
  }).catch((error: unknown) =>
    log.warn('a part of a service log cannot be read', { path, error: messageOf(error) }),
  )
  return Math.max(1, count)
}

/** How many lines a buffer has. */
export function countLines(content: Buffer): number {
  let count = 0
  for (let at = content.indexOf(NEWLINE); at !== -1; at = content.indexOf(NEWLINE, at + 1)) count++
  return count
}

/** A line of the server's own that says how many are missing at its place. */
export function lostLine(count: number, why: string): LogLine {
  return systemLine(`${count === 1 ? '1 line was' : `${count} lines were`} lost here: ${why}`)
}

function systemLine(line: string): LogLine {
  return { ts: timestamp(Date.now()), stream: 'system', line }
}
