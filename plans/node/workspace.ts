import { posix } from 'node:path'
import { BuildFailure } from '../source/failure.ts'
import { memberFolders } from '../source/folders.ts'
import { isRecord, textsOf } from '../source/json.ts'
import type { Tree } from '../source/tree.ts'
import type { PackageManager } from './managers.ts'
import { readManifest, type Manifest, type Manifests } from './manifest.ts'

/** The packages of a workspace by folder, without the root. */
export type Packages = Map<string, Manifest>

/** Names are written into commands unescaped (npm, package.json, "name"). */
const PLAIN_NAME = /^(?:@[\w.~-]+\/)?[\w~][\w.~-]*$/

/** The folders that managers would read as a pattern or an option; they are given to none. */
const PLAIN_FOLDER = /^[\w@+ .][\w@+ ./-]*$/

/** The parser takes up to a second for this much of what was made to confuse it; a list of patterns has a few lines. */
const MAX_YAML_BYTES = 128 * 1024
/** How often a file may repeat what it has said, each time with all that is repeated there. */
const MAX_ALIASES = 100

/** Reads the packages of the workspace in a tree; null when it is not one. Throws BuildFailure for one that is too large. */
export async function readWorkspace(tree: Tree, manifest: Manifest): Promise<Packages | null> {
  const isOther = manifest.workspaces !== null && !(await isOfPnpm(tree, manifest))
  const patterns = (isOther ? null : await pnpmPatterns(tree)) ?? manifest.workspaces
  if (patterns === null) return null
  const packages: Packages = new Map()
  for (const folder of await memberFolders(tree, patterns, 'package.json')) {
    packages.set(folder, await readManifest(tree, `${folder}/package.json`))
  }
  return packages
}

/** Whether pnpm installs a tree with both lists of patterns: other managers do not read its file. */
async function isOfPnpm(tree: Tree, { packageManager }: Manifest): Promise<boolean> {
  return packageManager === null ? await tree.hasFile('pnpm-lock.yaml') : packageManager.startsWith('pnpm')
}

/**
 * Returns the list `packages` of pnpm-workspace.yaml; null without one: the file may contain only settings, for a project
 * that is not a workspace. Throws BuildFailure for a file that pnpm would refuse.
 */
async function pnpmPatterns(tree: Tree): Promise<string[] | null> {
  const text = await tree.readText('pnpm-workspace.yaml', MAX_YAML_BYTES)
  if (text === null) return null
  const { parse } = await import('yaml')
  let value: unknown
  try {
    value = parse(text, {
      maxAliasCount: MAX_ALIASES,
      // Comparing all keys with each other takes quadratic time.
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: 'error',
    })
  } catch (cause) {
    const why = (cause as Error).message.split('\n', 1)[0]
    throw new BuildFailure(`pnpm-workspace.yaml is not valid YAML (${why}): correct it`, { cause })
  }
  const list: unknown[] = isRecord(value) && Array.isArray(value.packages) ? value.packages : []
  const patterns = list.filter((each) => typeof each === 'string')
  return patterns.length === 0 ? null : patterns
}

/**
 * Returns the folders of a package and of those that it is built with, each after those that it needs itself, the package
 * last: its dependencies of every kind, and the root's, if that is given: it has the tools and settings of all packages.
 */
export function neededBy(folder: string, packages: Packages, root: Manifest | null): string[] {
  const edges = edgesOf(packages)
  if (root === null) return inOrder([folder], edges)
  const needing = reached([folder], reversed(edges))
  // What tests the package from the root needs it, and not the reverse.
  const ofRoot = membersOf('', root, packages, namesOf(packages)).filter((each) => !needing.has(each))
  return inOrder([...ofRoot, folder], edges)
}

/** Returns all folders of a workspace, each after those that it needs itself. */
export function orderedFolders(packages: Packages): string[] {
  return inOrder([...packages.keys()], edgesOf(packages))
}

/** The folders that each folder needs, or the reverse. */
type Edges = ReadonlyMap<string, readonly string[]>

function edgesOf(packages: Packages): Edges {
  const names = namesOf(packages)
  return new Map([...packages].map(([path, each]) => [path, membersOf(path, each, packages, names)] as const))
}

function reversed(edges: Edges): Edges {
  const others = new Map<string, string[]>([...edges.keys()].map((folder) => [folder, []]))
  for (const [folder, needed] of edges) for (const each of needed) others.get(each)?.push(folder)
  return others
}

function reached(folders: readonly string[], edges: Edges): ReadonlySet<string> {
  const found = new Set(folders)
  // A set yields what is added while it is read.
  for (const folder of found) for (const next of edges.get(folder) ?? []) found.add(next)
  return found
}

function inOrder(folders: readonly string[], edges: Edges): string[] {
  const ordered = new Set<string>()
  const underway = new Set<string>()
  const visit = (path: string): void => {
    if (underway.has(path)) return
    underway.add(path)
    for (const needed of edges.get(path) ?? []) visit(needed)
    ordered.add(path)
  }
  for (const folder of folders) visit(folder)
  return [...ordered]
}

/** Returns the folders of the packages by their names. */
export function namesOf(packages: Packages): ReadonlyMap<string, string> {
  return new Map([...packages].flatMap(([path, { name }]) => (name === null ? [] : [[name, path] as const])))
}

/** Returns the folders of the packages that a package depends on, in whatever way. */
function membersOf(
  folder: string,
  manifest: Manifest,
  packages: Packages,
  names: ReadonlyMap<string, string>,
): string[] {
  const needed = Object.keys({ ...textsOf(manifest.value.peerDependencies), ...manifest.dependencies })
  return needed.flatMap((name) => memberNamed(name, folder, manifest, packages, names) ?? [])
}

/** Returns the folder of the package that a dependency of another one names, directly, by its path or as an alias, or null. */
export function memberNamed(
  name: string,
  folder: string,
  { dependencies }: Manifest,
  packages: Packages,
  names: ReadonlyMap<string, string>,
): string | null {
  const range = Object.hasOwn(dependencies, name) ? dependencies[name]! : ''
  const path = /^(?:file|link|portal|workspace):(\.{1,2}\/.*)$/.exec(range)?.[1]
  const place = path === undefined ? '' : posix.join(folder, path).replace(/\/$/, '')
  if (packages.has(place)) return place
  const other = /^workspace:((?:@[^/@]+\/)?[^/@]+)@/.exec(range)?.[1]
  return names.get(other ?? name) ?? null
}

/** Returns the package that a word of a call means, by its path or its name; null for none. */
export function memberCalled(words: readonly string[], packages: Manifests): Manifest | null {
  for (const word of words.map((each) => each.split('=').at(-1)!)) {
    const path = word.replace(/^\.\//, '').replace(/\/$/, '')
    const named = packages.get(path) ?? [...packages.values()].find(({ name }) => name === word)
    if (named !== undefined) return named
  }
  return null
}

/** Returns the name of a package if it can be written into a command, or null. */
export function plainName(manifest: Manifest): string | null {
  return manifest.name !== null && PLAIN_NAME.test(manifest.name) ? manifest.name : null
}

/**
 * Returns the command that runs a script of a package in its workspace, from the root: by the package's name, else by its
 * folder, which npm and pnpm accept instead; the others run it inside.
 */
export function runInMember(
  manager: PackageManager,
  folder: string,
  manifest: Manifest,
  script: string,
): string {
  const name = plainName(manifest)
  if (name !== null) return manager.runIn(name, script)
  const isPlain = PLAIN_FOLDER.test(folder)
  if (isPlain && manager.name === 'npm') return manager.runIn(quoted(folder), script)
  if (isPlain && manager.name === 'pnpm') return manager.runIn(quoted(`./${folder}`), script)
  return `(cd ${quoted(folder)} && ${manager.run(script)})`
}

/** Returns a path as one word of a shell that no program reads as an option, with quotes only where it needs them. */
export function quoted(path: string): string {
  const word = path.startsWith('-') ? `./${path}` : path
  return /^[\w@+./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}
