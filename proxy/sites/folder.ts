import { promises, realpath } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { monotonicMs } from '../clock.ts'
import { crypto } from '../modules.ts'
import type { Layout, Page } from '../wire/page.ts'
import type { Cache } from './cache.ts'
import { Content, SiteFile, isSmall, readPages } from './file.ts'
import { NO_RULES, readRules, type Rules } from './rules.ts'

/** The time between two large files that are taken into memory: of more than fit there most are only sent. */
const KEEP_EVERY_MS = 50
/** 96 bits of SHA-256: as many as no two contents of one path will ever share. */
const TAG_CHARACTERS = 16

/** What says that there is nothing of that name. */
const ABSENT: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP'])

/** The C library's, one call instead of one for each segment. */
const realPath = promisify(realpath.native)

let keptAt = -Infinity

/** A published folder as long as it stands in the table. It never changes on the disk. */
export class SiteFolder {
  readonly #folder: string
  readonly #cache: Cache
  readonly #files = new Map<string, SiteFile>()
  #root: Promise<string> | null = null
  #rules: Rules | null = null
  #closed = false

  constructor(folder: string, cache: Cache) {
    this.#folder = folder
    this.#cache = cache
  }

  /** Reads the rules, once: when the folder first stands in a table as the one that is served. */
  readRules(): void {
    this.#rules ??= readRules(this.#folder)
  }

  get rules(): Rules {
    return this.#rules ?? NO_RULES
  }

  /**
   * What is at a decoded path without `.` and `..`: a file, a folder, or nothing. A path with a link in it is nothing:
   * what really lies there must be what was asked for.
   */
  async find(path: string): Promise<SiteFile | 'folder' | null> {
    const known = this.#files.get(path)
    if (known) return known
    try {
      const real = (await this.#realRoot()) + path
      if ((await realPath(real)) !== real) return null
      const facts = await promises.stat(real)
      if (facts.isDirectory()) return 'folder'
      // A file may be older than what an earlier deploy had at its path.
      const modifiedAt = Math.max(facts.mtimeMs, (await promises.stat(this.#folder)).mtimeMs)
      return facts.isFile() ? await this.#describe(path, real, facts.size, modifiedAt) : null
    } catch (error) {
      if (ABSENT.has((error as NodeJS.ErrnoException).code ?? '')) return null
      throw error
    }
  }

  /** The content of a file that is not in memory in that layout at the moment. */
  async read(file: SiteFile, layout: Layout): Promise<readonly Page[]> {
    const pages = await readPages(file.path, file.size, layout)
    if (!file.contents[layout]) this.#keepContent(file, layout, pages)
    return pages
  }

  /** Takes a large file into memory for the next who ask, when it was asked for before and is not too large. */
  keepSoon(file: SiteFile, layout: Layout): void {
    const now = monotonicMs()
    if (!file.used || !file.keepable || this.#closed || now - keptAt < KEEP_EVERY_MS) return
    keptAt = now
    // Who sends it says so when it cannot be read.
    this.read(file, layout).catch(() => {})
  }

  /** The folder stands in no table any more: nothing of it is kept. */
  close(): void {
    this.#closed = true
    for (const file of this.#files.values()) this.#cache.remove(file)
  }

  #realRoot(): Promise<string> {
    return (this.#root ??= realPath(join(this.#folder, 'files')).catch((error: unknown) => {
      this.#root = null
      throw error
    }))
  }

  /**
   * The tag of a small file is made of the content, so that what a deploy leaves as it is stays valid in caches; of a
   * large one of size, time and published folder, which needs no reading: it changes with every deploy.
   */
  async #describe(path: string, real: string, size: number, modifiedAt: number): Promise<SiteFile> {
    const pages = isSmall(size) ? await readPages(real, size, 'framed') : null
    const known = this.#files.get(path)
    if (known) return known
    const hash = crypto().createHash('sha256')
    if (pages) for (const page of pages) for (const piece of page.pieces(0, page.length)) hash.update(piece)
    else hash.update(`${size} ${modifiedAt} ${basename(this.#folder)}`)
    const etag = `"${hash.digest('base64url').slice(0, TAG_CHARACTERS)}"`
    const file = new SiteFile({ path: real, size, modifiedAt, etag }, () => {
      this.#files.delete(path)
      for (const content of Object.values(file.contents)) if (content) this.#cache.remove(content)
    })
    if (!this.#closed) {
      this.#files.set(path, file)
      this.#cache.add(file)
    }
    if (pages) this.#keepContent(file, 'framed', pages)
    return file
  }

  #keepContent(file: SiteFile, layout: Layout, pages: readonly Page[]): void {
    if (this.#closed) return
    const content = new Content(layout, pages, file)
    file.contents[layout] = content
    this.#cache.add(content)
  }
}
