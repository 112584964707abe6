import { memberFolders } from '../source/folders.ts'
import { linesOf } from '../source/text.ts'
import type { Tree } from '../source/tree.ts'
import { readManifest, type Manifest } from './manifest.ts'

/** The packages of a workspace by folder, without the root. */
export type Packages = Map<string, Manifest>

/** Names are written into commands unescaped (npm, package.json, "name"). */
const PLAIN_NAME = /^(?:@[\w.~-]+\/)?[\w.~-]+$/

/** Reads the packages of the workspace in a tree; null when it is not one. Throws BuildFailure for one that is too large. */
export async function readWorkspace(tree: Tree, manifest: Manifest): Promise<Packages | null> {
  const patterns = (await pnpmPatterns(tree)) ?? manifest.workspaces
  if (patterns === null) return null
  const packages: Packages = new Map()
  for (const folder of await memberFolders(tree, patterns, 'package.json')) {
    packages.set(folder, await readManifest(tree, `${folder}/package.json`))
  }
  return packages
}

/** Returns the list `packages:` of pnpm-workspace.yaml; null without that file. Other keys of it are settings. */
async function pnpmPatterns(tree: Tree): Promise<string[] | null> {
  const text = await tree.readText('pnpm-workspace.yaml')
  if (text === null) return null
  const patterns: string[] = []
  let isList = false
  for (const line of linesOf(text)) {
    if (/^\w/.test(line)) isList = line.startsWith('packages:')
    const item = line.trim()
    if (isList && item.startsWith('- ')) patterns.push(unquoted(item.slice(2)))
    // The same on one line: `packages: ["apps/*"]`.
    const inLine = isList ? /^packages:\s*\[([^\]]*)\]/.exec(line)?.[1] : undefined
    if (inLine !== undefined) patterns.push(...inLine.split(',').map(unquoted))
  }
  // The file may contain only settings, for a project that is not a workspace.
  return patterns.length === 0 ? null : patterns
}

function unquoted(text: string): string {
  return text.trim().replaceAll(/["']/g, '')
}

/** Returns the folders of a package and of its dependencies, each after those that it needs itself, the package last. */
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

/** Returns the name of a package if it can be written into a command, or null. */
export function plainName(manifest: Manifest): string | null {
  return manifest.name !== null && PLAIN_NAME.test(manifest.name) ? manifest.name : null
}
