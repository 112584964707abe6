import { posix } from 'node:path'
import { hasLine } from './text.ts'
import type { Tree } from './tree.ts'

/** How many sources of a program are read, and how deep: a larger program may do anything. */
const MAX_SOURCES = 200
const MAX_DEPTH = 10

/** Folders of installed packages and build output. */
const THIRD_PARTY_FOLDERS = /^(?:\..*|vendor|node_modules|target|build|venv)\/$/

/** Whether a source of the tree listens on a port, or there are too many sources to tell. */
export async function mayListen(tree: Tree, sources: RegExp, listening: RegExp): Promise<boolean> {
  return (await findSource(tree, sources, listening)) !== false
}

/**
 * Returns the path of the first source in a folder with such a line, upper folders first; false for none, null where there
 * are too many to tell.
 */
export async function findSource(
  tree: Tree,
  sources: RegExp,
  line: RegExp,
  place = '.',
): Promise<string | false | null> {
  let folders = [place]
  let left = MAX_SOURCES
  for (let depth = 0; folders.length > 0; depth += 1) {
    if (depth === MAX_DEPTH) return null
    const below: string[] = []
    for (const folder of folders) {
      for (const name of await tree.list(folder)) {
        if (name.endsWith('/') ? THIRD_PARTY_FOLDERS.test(name) : !sources.test(name)) continue
        left -= 1
        if (left < 0) return null
        const path = posix.join(folder, name)
        if (name.endsWith('/')) below.push(path.slice(0, -1))
        else if (hasLine((await tree.readHead(path)) ?? '', line)) return path
      }
    }
    folders = below
  }
  return false
}
