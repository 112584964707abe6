import { posix } from 'node:path'
import type { Tree } from '../../../sources/tree.ts'
import { BuildFailure } from '../../failure.ts'
import { linesOf } from '../../text.ts'
import { readManifest, type Manifest } from './manifest.ts'

/** The packages of a workspace by their folders, without the root. */
export type Packages = Map<string, Manifest>

/** A workspace with more packages is none that a person pasted to see it run. */
const MAX_PACKAGES = 1_000
/** Folders that are looked into for packages. */
const MAX_FOLDERS = 10_000
/** How deep `**` goes. */
const MAX_DEPTH = 5

/** Folders go into the Dockerfile as they are. */
const PLAIN_PATH = /^[\w@.+-]+(?:\/[\w@.+-]+)*$/
/** Names go into commands as they are (npm, package.json, "name"). */
const PLAIN_NAME = /^(?:@[\w.~-]+\/)?[\w.~-]+$/

/** Reads the packages of the workspace in a tree; null when it is none. Throws BuildFailure for one that is too large. */
export async function readWorkspace(tree: Tree, manifest: Manifest): Promise<Packages | null> {
  const patterns = (await pnpmPatterns(tree)) ?? manifest.workspaces
  if (patterns === null) return null
  const search = new Search(tree)
  for (const pattern of patterns.filter((each) => !each.startsWith('!'))) {
    await search.expand('', segmentsOf(pattern), 0)
  }
  const excluded = patterns.filter((each) => each.startsWith('!')).map((each) => segmentsOf(each.slice(1)))
  const packages: Packages = new Map()
  for (const folder of [...search.found].toSorted()) {
    if (excluded.some((pattern) => matches(folder.split('/'), pattern))) continue
    packages.set(folder, await readManifest(tree, `${folder}/package.json`))
  }
  return packages
}

/** The list `packages:` of pnpm-workspace.yaml; null without that file. Other keys of it are settings. */
async function pnpmPatterns(tree: Tree): Promise<string[] | null> {
  const text = await tree.readText('pnpm-workspace.yaml')
  if (text === null) return null
  const patterns: string[] = []
  let isList = false
  for (const line of linesOf(text)) {
    if (/^\w/.test(line)) isList = line.startsWith('packages:')
    const item = line.trim()
    if (isList && item.startsWith('- ')) patterns.push(item.slice(2).trim().replaceAll(/["']/g, ''))
  }
  // It may hold settings alone, beside a project that is no workspace.
  return patterns.length === 0 ? null : patterns
}

/** Two `**` in a row are one, which would be tried in every division. */
function segmentsOf(pattern: string): string[] {
  return pattern
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.')
    .filter((segment, index, all) => segment !== '**' || all[index - 1] !== '**')
}

/** Looks for the folders with a package.json that patterns name. */
class Search {
  readonly found = new Set<string>()
  readonly #tree: Tree
  #looked = 0

  constructor(tree: Tree) {
    this.#tree = tree
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
    if (!(await this.#tree.hasFile(`${folder}/package.json`))) return
    if (this.found.size === MAX_PACKAGES) throw tooLarge()
    this.found.add(folder)
  }
}

function tooLarge(): BuildFailure {
  return new BuildFailure(
    `the workspace has more than ${MAX_PACKAGES} packages or ${MAX_FOLDERS} folders: narrow its patterns`,
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

/** Whether a name matches a pattern with one `*` at most; more of them are read as one at the first's place. */
function matchesSegment(name: string, segment: string): boolean {
  const [start, ...more] = segment.split('*')
  if (more.length === 0) return name === segment
  const end = more.at(-1)!
  return name.length >= start!.length + end.length && name.startsWith(start!) && name.endsWith(end)
}

/** The folders of the packages that one depends on, each after those that it needs itself, the package itself last. */
export function neededBy(folder: string, packages: Packages): string[] {
  const folders = new Map([...packages].map(([path, { name }]) => [name, path]))
  const ordered = new Set<string>()
  const underway = new Set<string>()
  const visit = (path: string): void => {
    if (underway.has(path)) return
    underway.add(path)
    for (const name of Object.keys(packages.get(path)?.dependencies ?? {})) {
      const needed = folders.get(name)
      if (needed !== undefined) visit(needed)
    }
    ordered.add(path)
  }
  visit(folder)
  return [...ordered]
}

/** A package's name where it can be written into a command, or null. */
export function plainName(manifest: Manifest): string | null {
  return manifest.name !== null && PLAIN_NAME.test(manifest.name) ? manifest.name : null
}
