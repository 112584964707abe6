import type { Site as SiteSpec, Target } from '../protocol.ts'
import { Cache } from './cache.ts'
import { SiteFolder } from './folder.ts'
import { Site } from './site.ts'

/** The sites of the table in use and their folders. What stays in the table stays in memory. */
export class Sites {
  readonly #cache = new Cache()
  #folders = new Map<string, SiteFolder>()
  #sites = new Map<string, Site>()

  /** Takes the targets of a new table. Returns the site of each target that has one, by its key. */
  apply(targets: Readonly<Record<string, Target>>): Map<string, Site> {
    const folders = new Map<string, SiteFolder>()
    const sites = new Map<string, Site>()
    const byTarget = new Map<string, Site>()
    for (const [key, { site: spec }] of Object.entries(targets)) {
      if (!spec) continue
      const identity = JSON.stringify([spec.folder, spec.earlier])
      const site = sites.get(identity) ?? this.#sites.get(identity)
      for (const { folder } of [spec, ...spec.earlier]) this.#folder(folder, folders)
      const kept = site ?? this.#make(spec, folders)
      sites.set(identity, kept)
      byTarget.set(key, kept)
    }
    for (const [identity, site] of this.#sites) if (!sites.has(identity)) site.close()
    for (const [path, folder] of this.#folders) if (!folders.has(path)) folder.close()
    this.#sites = sites
    this.#folders = folders
    return byTarget
  }

  #make(spec: SiteSpec, folders: ReadonlyMap<string, SiteFolder>): Site {
    const folder = folders.get(spec.folder)!
    folder.readRules()
    const earlier = spec.earlier.map(({ folder, until }) => ({ folder: folders.get(folder)!, until }))
    return new Site(folder, earlier, this.#cache)
  }

  #folder(path: string, into: Map<string, SiteFolder>): void {
    if (!into.has(path)) into.set(path, this.#folders.get(path) ?? new SiteFolder(path, this.#cache))
  }
}
