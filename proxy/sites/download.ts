import { readv } from 'node:fs'
import { Page, type Layout } from '../wire/page.ts'
import { poison } from '../wire/poison.ts'
import type { ByteRange } from './conditions.ts'
import { PAGE_BYTES, type SiteFile } from './file.ts'
import type { OpenFiles } from './open-files.ts'

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
  /**
   * Takes bytes of a page, with `last` the last of all; the promise resolves when they may be overwritten, without one
   * they may be at once.
   */
  take(page: Page, start: number, end: number, last: boolean): Promise<void> | null
}

/**
 * Gives a range of a file to its receiver, a page at a time: the next comes when the last was taken, so that a slow
 * reader costs one page. What is in memory comes from there, the rest from the disk. Rejects when the file cannot be
 * read or is shorter than it was.
 */
export async function sendRange(
  files: OpenFiles,
  file: SiteFile,
  { start, end }: ByteRange,
  receiver: Receiver,
): Promise<void> {
  let at = start
  while (at < end && !receiver.canceled) {
    // Asked for each time, as a page that is no longer kept should not stay for the sake of a slow reader.
    const page = file.pageAt(at, receiver.layout)
    if (!page) return sendFromDisk(files, file, { start: at, end }, receiver)
    const offset = at % PAGE_BYTES
    const stop = Math.min(page.length, offset + end - at)
    at += stop - offset
    await receiver.take(page, offset, stop, at === end)
  }
}

async function sendFromDisk(
  files: OpenFiles,
  file: SiteFile,
  { start, end }: ByteRange,
  receiver: Receiver,
): Promise<void> {
  const descriptor = await files.acquire(file.path)
  const { layout } = receiver
  const page = sparePage(layout) ?? new Page(PAGE_BYTES, layout)
  try {
    let at = start
    while (at < end && !receiver.canceled) {
      const bytes = await readAt(descriptor, page.pieces(0, Math.min(page.length, end - at)), at)
      if (bytes === 0) throw new Error(`${file.path} has become shorter`)
      if (receiver.canceled) return
      at += bytes
      await receiver.take(page, 0, bytes, at === end)
    }
  } finally {
    files.release(file.path)
    // What a connection that was cut still had to send may be read by the kernel until it is closed.
    if (!receiver.canceled) keep(page)
  }
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
