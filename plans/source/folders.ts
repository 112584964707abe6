import { posix } from 'node:path'
import { BuildFailure } from './failure.ts'
import type { Tree } from './tree.ts'

/** A workspace with more members is too large to build on one server. */
const MAX_MEMBERS = 1_000
/** How many folders are searched for members. */
const MAX_FOLDERS = 10_000
/** How many levels `**` descends. */
const MAX_DEPTH = 5

/** Folder names are written into the Dockerfile unescaped. */
const PLAIN_PATH = /^[\w@.+-]+(?:\/[\w@.+-]+)*$/

/**
 * Returns the folders with a manifest that the patterns of a workspace match, sorted; a pattern that begins with `!`
 * excludes folders. Throws BuildFailure for a workspace that is too large.
 */
export async function memberFolders(
  tree: Tree,
  patterns: readonly string[],
  manifest: string,
): Promise<string[]> {
  const search = new Search(tree, manifest)
  for (const pattern of new Set(patterns.filter((each) => !each.startsWith('!')))) {
    await search.expand('', segmentsOf(pattern), 0)
  }
  const excluded = patterns.filter((each) => each.startsWith('!')).map((each) => segmentsOf(each.slice(1)))
  return [...search.found]
    .filter((folder) => !excluded.some((pattern) => matches(folder.split('/'), pattern)))
    .toSorted()
}

/** Consecutive `**` are read as one; otherwise every way to divide a path between them would be tried. */
function segmentsOf(pattern: string): string[] {
  return pattern
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.')
    .filter((segment, index, all) => segment !== '**' || all[index - 1] !== '**')
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
    if (segment === '..') return
    if (segment === '**') {
      await this.expand(folder, rest, depth)
      if (depth === MAX_DEPTH) return
      for (const name of await this.#folders(folder)) {
        await this.expand(posix.join(folder, name), ['**', ...rest], depth + 1)
      }
      return
    }
    if (!segment.includes('*')) return await this.expand(posix.join(folder, segment), rest, depth)
    for (const name of await this.#folders(folder)) {
      if (matchesSegment(name, segment)) await this.expand(posix.join(folder, name), rest, depth)
    }
  }

  async #folders(folder: string): Promise<string[]> {
    this.#looked += 1
    if (this.#looked > MAX_FOLDERS) throw tooLarge()
    const names = await this.#tree.list(folder === '' ? '.' : folder)
    return names
      .filter((name) => name.endsWith('/') && name !== 'node_modules/' && !name.startsWith('.'))
      .map((name) => name.slice(0, -1))
  }

  async #add(folder: string): Promise<void> {
    if (!PLAIN_PATH.test(folder) || this.found.has(folder)) return
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

/** Whether a folder matches a pattern, where `**` stands for any number of folders. */
function matches(folder: string[], pattern: string[]): boolean {
  const [segment, ...rest] = pattern
  if (segment === undefined) return folder.length === 0
  if (segment === '**')
    return folder.some((_, index) => matches(folder.slice(index), rest)) || matches([], rest)
  return folder.length > 0 && matchesSegment(folder[0]!, segment) && matches(folder.slice(1), rest)
}

/** Whether a name matches a pattern with at most one `*`; further ones are merged into the first. */
function matchesSegment(name: string, segment: string): boolean {
  const [start, ...more] = segment.split('*')
  if (more.length === 0) return name === segment
  const end = more.at(-1)!
  return name.length >= start!.length + end.length && name.startsWith(start!) && name.endsWith(end)
}
