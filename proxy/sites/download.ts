import { readv } from 'node:fs'
import { PIECE_BYTES, Page, type Layout } from '../wire/page.ts'
import { poison } from '../wire/poison.ts'
import type { ByteRange } from './conditions.ts'
import { PAGE_BYTES, type SiteFile } from './file.ts'
import type { OpenFiles } from './open-files.ts'

/** From the disk no less is read, however little there is room for: a read costs more than a few frames. */
const MIN_READ_BYTES = 4 * 1024
/** Pages that wait for the next download, 4 MiB of both layouts together. */
const MAX_SPARE_PAGES = 32

/** Those that came last at the end. */
const spare: Page[] = []

/** Who takes what a file gives. */
export interface Receiver {
  /** Wants no more: its connection is gone. */
  readonly canceled: boolean
  /** How it would have pages. */
  readonly layout: Layout
  /** How much it takes now: more than nothing, unless it is canceled. Nothing is read for it before. */
  room(): number | Promise<number>
  /**
   * Takes bytes of a page, with `last` the last of all; the promise resolves when they may be overwritten, without one
   * they may be at once.
   */
  take(page: Page, start: number, end: number, last: boolean): Promise<void> | null
}

/**
 * Gives a range of a file to its receiver, a page at a time, or what there is room for: the next comes when the last was
 * taken, so that a slow reader costs one page, and one that takes nothing none. What is in memory comes from there, the
 * rest from the disk. Rejects when the file cannot be read or is shorter than it was.
 */
export async function sendRange(
  files: OpenFiles,
  file: SiteFile,
  { start, end }: ByteRange,
  receiver: Receiver,
): Promise<void> {
  let descriptor: number | null = null
  try {
    let at = start
    while (at < end && !receiver.canceled) {
      const room = await receiver.room()
      if (receiver.canceled) return
      // Asked for each time, as a page that is no longer kept should not stay for the sake of a slow reader.
      const page = file.pageAt(at, receiver.layout)
      if (page) {
        const offset = at % PAGE_BYTES
        const stop = Math.min(page.length, offset + Math.min(end - at, room))
        at += stop - offset
        await receiver.take(page, offset, stop, at === end)
      } else {
        descriptor ??= await files.acquire(file.path)
        if (receiver.canceled) return
        const stop = Math.min(end, at + Math.max(room, MIN_READ_BYTES))
        at += await sendPiece(descriptor, file, { start: at, end: stop }, stop === end, receiver)
      }
    }
  } finally {
    if (descriptor !== null) files.release(file.path)
  }
}

/** Sends the beginning of a range, up to a page of it; with `last` the range is the last. Answers how many bytes that was. */
async function sendPiece(
  descriptor: number,
  { path }: SiteFile,
  { start, end }: ByteRange,
  last: boolean,
  receiver: Receiver,
): Promise<number> {
  const page = pageFor(end - start, receiver.layout)
  const bytes = await readAt(descriptor, page.pieces(0, Math.min(page.length, end - start)), start)
  if (bytes === 0) throw new Error(`${path} has become shorter`)
  if (!receiver.canceled) await receiver.take(page, 0, bytes, last && start + bytes === end)
  // What a connection that was cut still had to send may be read by the kernel until it is closed.
  if (!receiver.canceled && page.length === PAGE_BYTES) keep(page)
  return bytes
}

/** Most are whole pages, which are used again. */
function pageFor(bytes: number, layout: Layout): Page {
  if (bytes <= PIECE_BYTES) return new Page(bytes, layout)
  return sparePage(layout) ?? new Page(PAGE_BYTES, layout)
}

function sparePage(layout: Layout): Page | undefined {
  const index = spare.findLastIndex((page) => page.layout === layout)
  return index === -1 ? undefined : spare.splice(index, 1)[0]
}

/** The page that has waited longest goes, which is of the layout that fewer ask for. */
function keep(page: Page): void {
  poison(page.memory)
  spare.push(page)
  if (spare.length > MAX_SPARE_PAGES) spare.shift()
}

function readAt(descriptor: number, pieces: readonly Buffer[], position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    readv(descriptor, pieces, position, (error, bytes) => {
      if (error) reject(error)
      else resolve(bytes)
    })
  })
}
