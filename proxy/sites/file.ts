import { constants, promises } from 'node:fs'
import { Page, type Layout } from '../wire/page.ts'
import { Pins } from '../wire/pins.ts'
import type { Cached } from './cache.ts'

/** How much is read, kept and sent at a time. */
export const PAGE_BYTES = 128 * 1024
/** A file up to this size is read completely before the answer begins. */
const MAX_SMALL_BYTES = 64 * 1024
/** A file up to this size may be kept in memory; a larger one is read each time it is sent. */
const MAX_KEPT_BYTES = 1024 * 1024
/** What remembering a file costs in addition to its content. */
const FILE_BYTES = 512

/** The content of a file in memory, in pages of `PAGE_BYTES`, each with memory of its own. */
export class Content implements Cached {
  readonly layout: Layout
  readonly pages: readonly Page[]
  readonly bytes: number
  used = false
  readonly #file: SiteFile

  constructor(layout: Layout, pages: readonly Page[], file: SiteFile) {
    this.layout = layout
    this.pages = pages
    this.bytes = pages.reduce((sum, { memory }) => sum + memory.length, 0)
    this.#file = file
    for (const page of pages) page.pins = new Pins()
  }

  dropped(): void {
    this.#file.contents[this.layout] = null
    for (const { pins, memory } of this.pages) pins!.retire(memory.length)
  }
}

/** A regular file of a published folder. */
export class SiteFile implements Cached {
  /** Its real path. */
  readonly path: string
  readonly size: number
  /** Milliseconds since 1970. */
  readonly modifiedAt: number
  /** A strong entity tag with its quotes. */
  readonly etag: string
  readonly bytes = FILE_BYTES
  used = false
  /** Set as long as they are kept. A large file may be in memory in both layouts, a small one is always `framed`. */
  readonly contents: Record<Layout, Content | null> = { plain: null, framed: null }
  readonly #whenDropped: () => void

  constructor(facts: Pick<SiteFile, 'path' | 'size' | 'modifiedAt' | 'etag'>, whenDropped: () => void) {
    this.path = facts.path
    this.size = facts.size
    this.modifiedAt = facts.modifiedAt
    this.etag = facts.etag
    this.#whenDropped = whenDropped
  }

  get small(): boolean {
    return isSmall(this.size)
  }

  get keepable(): boolean {
    return this.size <= MAX_KEPT_BYTES
  }

  /** Returns the page with this position, or null if it is not in memory in that layout. */
  pageAt(position: number, layout: Layout): Page | null {
    const content = this.contents[layout]
    if (!content) return null
    content.used = true
    return content.pages[Math.floor(position / PAGE_BYTES)] ?? null
  }

  dropped(): void {
    this.#whenDropped()
  }
}

/** Whether a file of that size is sent from memory in one piece. */
export function isSmall(size: number): boolean {
  return size <= MAX_SMALL_BYTES
}

/** Reads a whole file, which must not be a link. Rejects if it is shorter than `size`. */
export async function readPages(path: string, size: number, layout: Layout): Promise<Page[]> {
  const file = await promises.open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    const pages: Page[] = []
    for (let at = 0; at < size; at += PAGE_BYTES) {
      const page = new Page(Math.min(PAGE_BYTES, size - at), layout)
      const { bytesRead } = await file.readv(page.pieces(0, page.length), at)
      if (bytesRead < page.length) throw new Error(`${path} has become shorter`)
      pages.push(page)
    }
    return pages
  } finally {
    await file.close()
  }
}
