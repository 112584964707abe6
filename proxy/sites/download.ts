import { readv } from 'node:fs'
import { PIECE_BYTES, Page, type Layout } from '../wire/page.ts'
import { poison } from '../wire/poison.ts'
import type { ByteRange } from './conditions.ts'
import { PAGE_BYTES, type SiteFile } from './file.ts'
import type { OpenFiles } from './open-files.ts'

/** Reads from disk have at least this size, even if there is less room: a read costs more than a few frames. */
const MIN_READ_BYTES = 4 * 1024
/** Pages that wait for reuse: at most 4 MiB of both layouts together. */
const MAX_SPARE_PAGES = 32

/** The most recently used is at the end. */
const spare: Page[] = []

/** Takes the content of a file. */
export interface Receiver {
  /** Whether it wants no more: its connection is gone. */
  readonly canceled: boolean
  /** The layout in which it wants pages. */
  readonly layout: Layout
  /** How much it takes now: more than 0, unless it is canceled. Nothing is read for it until then. */
  room(): number | Promise<number>
  /**
   * Takes bytes of a page; `last` marks the end of the content. The promise resolves when the bytes may be overwritten;
   * without a promise that is at once.
   */
  take(page: Page, start: number, end: number, last: boolean): Promise<void> | null
}

/**
 * Sends a range of a file to its receiver, a page at a time or as much as there is room for. The next part is read when the
 * last one was taken, so a slow reader costs one page, and one that takes nothing costs none. What is in memory is sent from
 * there, the rest is read from disk. Rejects if the file cannot be read or has become shorter.
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
      // Looked up each time: a page that was removed from the cache should not stay in memory for a slow reader.
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

/**
 * Sends the beginning of a range, at most a page; `last` says that no other range follows. Returns the number of bytes sent.
 */
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
  // After a cut, the kernel may still read what was not sent until the connection is closed, so the page cannot be reused.
  if (!receiver.canceled && page.length === PAGE_BYTES) keep(page)
  return bytes
}

/** Returns a page for so many bytes. Most are full pages, which are reused. */
function pageFor(bytes: number, layout: Layout): Page {
  if (bytes <= PIECE_BYTES) return new Page(bytes, layout)
  return sparePage(layout) ?? new Page(PAGE_BYTES, layout)
}

function sparePage(layout: Layout): Page | undefined {
  const index = spare.findLastIndex((page) => page.layout === layout)
  return index === -1 ? undefined : spare.splice(index, 1)[0]
}

/** Keeps a page for reuse. The one that has waited longest goes: the layout that is requested less. */
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
