import type { Cache } from './cache.ts'
import { CODINGS, type Coding } from '../compression/codings.ts'
import { fieldLines } from './fields.ts'
import { SiteFile } from './file.ts'
import type { SiteFolder } from './folder.ts'
import { isHashedName, mayBeHashed } from './hashed-name.ts'
import { decodePath, encodePath, isHidden } from './path.ts'
import { Resolution, type Representation, type Verdict } from './resolution.ts'

/** The page that a site shows for missing files. */
const MISSING_PAGE = '/404.html'
/** The page of a site with client-side routing, for every path without a file; the name is Surge's and Nuxt's. */
const FALLBACK_PAGE = '/200.html'

/** A folder that was replaced by a newer one. */
export interface EarlierFolder {
  folder: SiteFolder
  /** Milliseconds since 1970. */
  until: number
}

/** The file that a path leads to. */
interface FoundFile {
  name: string
  /**
   * Where to redirect, so that relative links work: a folder needs its slash, a page must not have one. Null if the path is
   * right.
   */
  properPath: string | null
}

/** How a file is served. */
interface Serving {
  status: 200 | 404
  /** The decoded path of the request, which the field rules apply to. */
  path: string
  /** The path of the file. */
  name: string
  immutable: boolean
  /** Whether the site's field rules apply; they do not to files of earlier folders. */
  ruled: boolean
}

/**
 * A published folder and the earlier ones: decides how each path is answered. In this order: a redirect of the rules (the
 * first rule that matches wins, as in the `_redirects` files of Netlify and Cloudflare), the file of that name, `name.html`,
 * the `index.html` of the folder, a content-hashed file of an earlier folder, a rewrite of the rules, `200.html`,
 * `404.html`. So an existing file wins over a rewrite, but not over a redirect.
 */
export class Site {
  readonly #folder: SiteFolder
  readonly #earlier: readonly EarlierFolder[]
  readonly #cache: Cache
  readonly #known = new Map<string, Resolution>()
  readonly #underWay = new Map<string, Promise<Verdict>>()
  #closed = false

  constructor(folder: SiteFolder, earlier: readonly EarlierFolder[], cache: Cache) {
    this.#folder = folder
    this.#earlier = earlier
    this.#cache = cache
  }

  /** Returns the verdict on the path of a request target if it is cached. */
  known(target: string): Verdict | null {
    const resolution = this.#known.get(target)
    if (!resolution) return null
    if (!resolution.valid) {
      this.#cache.remove(resolution)
      return null
    }
    resolution.used = true
    return resolution.verdict
  }

  /** Returns the verdict on the path of a request target. Rejects if reading from disk fails. */
  resolve(target: string): Promise<Verdict> {
    let resolving = this.#underWay.get(target)
    if (!resolving) {
      resolving = this.#resolve(target).finally(() => this.#underWay.delete(target))
      this.#underWay.set(target, resolving)
    }
    return resolving
  }

  /** Drops the cached verdicts: another site has replaced this one. */
  close(): void {
    this.#closed = true
    for (const resolution of this.#known.values()) this.#cache.remove(resolution)
  }

  async #resolve(target: string): Promise<Verdict> {
    const path = decodePath(target)
    if (path === null) return this.#keep(target, { kind: 'malformed' })
    if (isHidden(path)) return this.#keep(target, await this.#missing(path))
    const outcome = this.#folder.rules.find(path)
    if (outcome?.kind === 'redirect') return this.#keep(target, outcome)
    const found = await this.#find(path)
    if (found?.properPath)
      return this.#keep(target, { kind: 'redirect', status: 301, location: encodePath(found.properPath) })
    if (found) {
      const immutable = found.name === path && isHashedName(path)
      const serving: Serving = { status: 200, path, name: found.name, immutable, ruled: true }
      return this.#keep(target, (await this.#serve(this.#folder, serving))!)
    }
    if (mayBeHashed(path)) {
      const serving: Serving = { status: 200, path, name: path, immutable: true, ruled: false }
      for (const { folder, until } of this.#earlier) {
        const verdict = until > Date.now() ? await this.#serve(folder, serving) : null
        if (verdict) return this.#keep(target, verdict, until)
      }
    }
    if (outcome) {
      const meant = isHidden(outcome.path) ? null : await this.#find(outcome.path)
      if (meant) return this.#keep(target, (await this.#page(outcome.status, meant.name, path))!)
    }
    return this.#keep(target, (await this.#page(200, FALLBACK_PAGE, path)) ?? (await this.#missing(path)))
  }

  /** Returns the file that a path leads to, and the path to redirect to. */
  async #find(path: string): Promise<FoundFile | null> {
    const bare = path.replace(/\/$/, '')
    const [index, page] = [`${bare}/index.html`, `${bare}.html`]
    if (path.endsWith('/')) {
      if (await this.#isFile(index)) return { name: index, properPath: null }
      return path !== '/' && (await this.#isFile(page)) ? { name: page, properPath: bare } : null
    }
    const exact = await this.#folder.find(path)
    if (exact instanceof SiteFile) return { name: path, properPath: null }
    if (await this.#isFile(page)) return { name: page, properPath: null }
    return exact === 'folder' && (await this.#isFile(index)) ? { name: index, properPath: `${path}/` } : null
  }

  async #isFile(path: string): Promise<boolean> {
    return (await this.#folder.find(path)) instanceof SiteFile
  }

  async #missing(path: string): Promise<Verdict> {
    return (await this.#page(404, MISSING_PAGE, path)) ?? { kind: 'missing' }
  }

  /** Returns a file that answers for another path; null if it does not exist. */
  #page(status: Serving['status'], name: string, path: string): Promise<Verdict | null> {
    return this.#serve(this.#folder, { status, path, name, immutable: false, ruled: true })
  }

  /** Returns a file and the encoded files next to it; null if it does not exist. */
  async #serve(folder: SiteFolder, serving: Serving): Promise<Verdict | null> {
    const { status, name, immutable } = serving
    const file = await folder.find(name)
    if (!(file instanceof SiteFile)) return null
    const files: { file: SiteFile; coding: Coding }[] = [{ file, coding: null }]
    for (const { suffix, coding } of CODINGS) {
      const encoded = await folder.find(name + suffix)
      if (encoded instanceof SiteFile) files.push({ file: encoded, coding })
    }
    const rules = serving.ruled ? this.#folder.rules.fieldsFor(serving.path) : []
    const of = { name, varies: files.length > 1, immutable, missing: status === 404, rules }
    const representations = files.map(({ file, coding }) => ({
      file,
      folder,
      coding,
      fields: fieldLines({ ...of, file, coding }),
    })) as [Representation, ...Representation[]]
    return { kind: 'file', status, representations }
  }

  #keep(target: string, verdict: Verdict, until = Infinity): Verdict {
    if (this.#closed) return verdict
    const resolution = new Resolution(target, verdict, until, () => this.#known.delete(target))
    this.#known.set(target, resolution)
    this.#cache.add(resolution)
    return verdict
  }
}
