import { promises, realpath } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { monotonicMs } from '../clock.ts'
import { crypto } from '../modules.ts'
import type { Layout, Page } from '../wire/page.ts'
import type { Cache } from './cache.ts'
import { Content, SiteFile, isSmall, readPages } from './file.ts'
import { NO_RULES, readRules, type Rules } from './rules.ts'

/** Min time between large files that are read into memory: if more are requested than fit, most should only be sent. */
const KEEP_EVERY_MS = 50
/** 96 bits of SHA-256: enough that no two contents of a path ever share them. */
const TAG_CHARACTERS = 16

/** Errors that mean that there is nothing of that name. */
const ABSENT: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP'])

/** The C library's function, which makes one call instead of one per segment. */
const realPath = promisify(realpath.native)

let keptAt = -Infinity

/** A published folder for as long as it is in the table. It never changes on disk. */
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

  /** Reads the rules once: when a table first has the folder as the one that is served. */
  readRules(): void {
    this.#rules ??= readRules(this.#folder)
  }

  get rules(): Rules {
    return this.#rules ?? NO_RULES
  }

  /**
   * Returns what is at a decoded path without `.` and `..`: a file, a folder, or nothing. A path through a link counts as
   * nothing: the real path must be the requested one.
   */
  async find(path: string): Promise<SiteFile | 'folder' | null> {
    const known = this.#files.get(path)
    if (known) return known
    try {
      const real = (await this.#realRoot()) + path
      if ((await realPath(real)) !== real) return null
      const facts = await promises.stat(real)
      if (facts.isDirectory()) return 'folder'
      // A file may be older than the one that an earlier deploy had at its path.
      const modifiedAt = Math.max(facts.mtimeMs, (await promises.stat(this.#folder)).mtimeMs)
      return facts.isFile() ? await this.#describe(path, real, facts.size, modifiedAt) : null
    } catch (error) {
      if (ABSENT.has((error as NodeJS.ErrnoException).code ?? '')) return null
      throw error
    }
  }

  /** Reads the content of a file that is not in memory in that layout. */
  async read(file: SiteFile, layout: Layout): Promise<readonly Page[]> {
    const pages = await readPages(file.path, file.size, layout)
    if (!file.contents[layout]) this.#keepContent(file, layout, pages)
    return pages
  }

  /** Reads a large file into memory for the next requests, if it was requested before and is not too large. */
  keepSoon(file: SiteFile, layout: Layout): void {
    const now = monotonicMs()
    if (!file.used || !file.keepable || this.#closed || now - keptAt < KEEP_EVERY_MS) return
    keptAt = now
    // Reading it for the answer reports the error.
    this.read(file, layout).catch(() => {})
  }

  /** Drops everything: the folder is not in the table any more. */
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
   * Describes a file. The tag of a small file depends on its content, so that caches stay valid across deploys that do not
   * change it. The tag of a large file depends on size, time and published folder: it changes with every deploy, but needs
   * no reading. Archives carry times in seconds, and a copy of the folder on another machine has the same tags.
   */
  async #describe(path: string, real: string, size: number, modifiedAt: number): Promise<SiteFile> {
    const pages = isSmall(size) ? await readPages(real, size, 'framed') : null
    const known = this.#files.get(path)
    if (known) return known
    const hash = crypto().createHash('sha256')
    if (pages) for (const page of pages) for (const piece of page.pieces(0, page.length)) hash.update(piece)
    else hash.update(`${size} ${Math.floor(modifiedAt / 1_000)} ${basename(this.#folder)}`)
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
