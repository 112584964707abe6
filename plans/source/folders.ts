import { posix } from 'node:path'
import { BuildFailure } from './failure.ts'
import { isPattern, matchesFolder, matchesName, segmentsOf, withoutBraces } from './patterns.ts'
import type { Tree } from './tree.ts'

/** A workspace with more members is too large to build on one server. */
const MAX_MEMBERS = 1_000
/** How many folders are searched for members. */
const MAX_FOLDERS = 10_000
/** How many levels `**` descends. */
const MAX_DEPTH = 5

/** A workspace has a few patterns. */
const MAX_PATTERNS = 1_000

/** A path with other characters cannot be written into a line of the Dockerfile or of a log, however it is quoted. */
const WRITABLE = /^[^\p{Cc}\p{Zl}\p{Zp}\\"]+$/u

/**
 * Returns the folders with a manifest that the patterns of a workspace match, sorted; a pattern that begins with `!`
 * excludes folders. Throws BuildFailure for a workspace that is too large.
 */
export async function memberFolders(
  tree: Tree,
  patterns: readonly string[],
  manifest: string,
): Promise<string[]> {
  const expanded = new Set<string>()
  for (const pattern of patterns) {
    for (const each of withoutBraces(pattern)) expanded.add(each)
    if (expanded.size > MAX_PATTERNS) throw tooLarge()
  }
  const [excluding, including] = [true, false].map((is) =>
    [...expanded].filter((each) => each.startsWith('!') === is),
  )
  const search = new Search(tree, manifest)
  for (const pattern of including!) await search.expand('', segmentsOf(pattern), 0)
  const excluded = excluding!.map((each) => segmentsOf(each.slice(1)))
  return [...search.found]
    .filter((folder) => !excluded.some((pattern) => matchesFolder(folder.split('/'), pattern)))
    .toSorted()
}

/** Searches for folders with a manifest that match patterns. */
class Search {
  readonly found = new Set<string>()
  readonly #tree: Tree
  readonly #manifest: string
  #looked = 0

  constructor(tree: Tree, manifest: string) {
    this.#tree = tree
    this.#manifest = manifest
  }

  async expand(folder: string, [segment, ...rest]: string[], depth: number): Promise<void> {
    if (segment === undefined) return await this.#add(folder)
    if (segment === '..' || segment === 'node_modules') return
    if (segment === '**') {
      await this.expand(folder, rest, depth)
      if (depth === MAX_DEPTH) return
      for (const name of await this.#folders(folder, '*')) {
        await this.expand(posix.join(folder, name), ['**', ...rest], depth + 1)
      }
      return
    }
    if (!isPattern(segment)) return await this.expand(posix.join(folder, segment), rest, depth)
    for (const name of await this.#folders(folder, segment)) {
      await this.expand(posix.join(folder, name), rest, depth)
    }
  }

  /** Returns the folders in one, except links, that match a segment of a pattern. */
  async #folders(folder: string, segment: string): Promise<string[]> {
    this.#looked += 1
    if (this.#looked > MAX_FOLDERS) throw tooLarge()
    const names = await this.#tree.list(folder === '' ? '.' : folder)
    return names
      .filter((name) => name.endsWith('/') && name !== 'node_modules/')
      .map((name) => name.slice(0, -1))
      .filter((name) => matchesName(name, segment))
  }

  async #add(folder: string): Promise<void> {
    if (!WRITABLE.test(folder) || this.found.has(folder)) return
    if (!(await this.#tree.hasFile(`${folder}/${this.#manifest}`))) return
    if (this.found.size === MAX_MEMBERS) throw tooLarge()
    this.found.add(folder)
  }
}

function tooLarge(): BuildFailure {
  return new BuildFailure(
    `the workspace has more than ${MAX_MEMBERS} packages or ${MAX_FOLDERS} folders: narrow its patterns`,
  )
}
