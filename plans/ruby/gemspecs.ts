import { posix } from 'node:path'
import { hasLine, linesOf } from '../source/text.ts'
import type { Tree } from '../source/tree.ts'

/** How many folders are searched for gems of the tree. */
const MAX_FOLDERS = 100

/**
 * Whether a gem of the tree asks git for its files, as `bundle gem` writes it: Bundler reads it whenever a program starts, so
 * that git has to be in the image (Bundler, "Path sources"). `folder` is that of the Gemfile.
 */
export async function asksGit(tree: Tree, folder: string): Promise<boolean> {
  let left = MAX_FOLDERS
  for (const path of pathsIn((await tree.readText(posix.join(folder, 'Gemfile'))) ?? '')) {
    const place = posix.join(folder, path)
    const below = (await tree.list(place)).filter((name) => name.endsWith('/'))
    for (const each of [place, ...below.map((name) => posix.join(place, name))]) {
      if (--left < 0) return false
      for (const name of await tree.list(each)) {
        if (!name.endsWith('.gemspec')) continue
        if (hasLine((await tree.readHead(posix.join(each, name))) ?? '', /\bgit\s/)) return true
      }
    }
  }
  return false
}

/** Returns the folders that a Gemfile names for gems. */
function pathsIn(text: string): string[] {
  const paths: string[] = []
  for (const line of linesOf(text)) {
    if (/^\s*gemspec\b/.test(line)) paths.push('.')
    const path = /(?:^|[\s:,(])path\b[:\s=>(]{1,6}["']([\w@./+-]{1,200})["']/.exec(line)?.[1]
    if (path !== undefined) paths.push(path)
  }
  return paths
}
