import { posix } from 'node:path'
import type { Tree } from '../../sources/tree.ts'
import { hasLine } from '../text.ts'

/** Of a program's own sources: with more files, or deeper ones, it may be anything. */
const MAX_SOURCES = 200
const MAX_DEPTH = 10

/** Folders of what was installed or built. */
const OF_OTHERS = /^(?:\..*|vendor|node_modules|target|build|venv)\/$/

/** Whether a source of a tree listens by itself, or there are too many to tell. */
export async function mayListen(tree: Tree, sources: RegExp, listening: RegExp): Promise<boolean> {
  let folders = ['.']
  let left = MAX_SOURCES
  for (let depth = 0; folders.length > 0; depth += 1) {
    if (depth === MAX_DEPTH) return true
    const below: string[] = []
    for (const folder of folders) {
      for (const name of await tree.list(folder)) {
        if (name.endsWith('/') ? OF_OTHERS.test(name) : !sources.test(name)) continue
        left -= 1
        if (left < 0) return true
        const path = posix.join(folder, name)
        if (name.endsWith('/')) below.push(path.slice(0, -1))
        else if (hasLine((await tree.readHead(path)) ?? '', listening)) return true
      }
    }
    folders = below
  }
  return false
}
