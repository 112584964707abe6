import { posix } from 'node:path'
import type { Tree } from '../sources/tree.ts'
import { linesOf } from './text.ts'

/** What builds leave behind, which no repository holds: folders by their names, archives of Java by their endings. */
const OUTPUT_FOLDERS = new Set(['target', 'build', 'dist', 'out', 'publish'])
const ARCHIVE = /\.[jw]ar$/

/**
 * What a Dockerfile copies of a build that its author runs before it, and the source does not have: no image comes of such
 * a Dockerfile. Null where it copies nothing like that. `given` are variables that a service gives to the build.
 */
export async function missingOutput(
  tree: Tree,
  dockerfile: string,
  given: readonly string[],
): Promise<string | null> {
  const variables = new Map<string, string>()
  for (const [instruction, ...words] of instructionsOf(dockerfile)) {
    if (instruction === 'ARG') {
      const [, name, value] = /^(\w+)=["']?([^"'\s]*)["']?$/.exec(words[0] ?? '') ?? []
      if (name !== undefined && !given.includes(name)) variables.set(name, value!)
    }
    if (instruction !== 'COPY' && instruction !== 'ADD') continue
    // Another stage's or image's, a list, or a text that stands in the file.
    if (words.some((word) => word.startsWith('--from') || word.startsWith('[') || word.includes('<<')))
      continue
    const sources = words.filter((word) => !word.startsWith('--')).slice(0, -1)
    for (const source of sources) {
      const path = pathOf(source, variables)
      if (path !== null && isOutput(path) && !(await matches(tree, path))) return path
    }
  }
  return null
}

/** The instructions of a Dockerfile as words, those that go on over several lines too. */
function* instructionsOf(dockerfile: string): Generator<string[]> {
  let begun = ''
  for (const line of linesOf(dockerfile)) {
    const text = line.trim()
    if (text.startsWith('#')) continue
    if (text.endsWith('\\')) {
      begun += `${text.slice(0, -1)} `
      continue
    }
    const [instruction = '', ...words] = `${begun}${text}`.split(/[ \t]+/)
    begun = ''
    yield [instruction.toUpperCase(), ...words]
  }
}

/** A source in the tree with the values of its variables; null where one of them is not known, or it is no path. */
function pathOf(source: string, variables: ReadonlyMap<string, string>): string | null {
  const text = source.replace(/\$\{(\w+)\}|\$(\w+)/g, (all, braced?: string, bare?: string) => {
    return variables.get(braced ?? bare ?? '') ?? all
  })
  const path = posix.normalize(text.replace(/^(?:\.?\/)+/, ''))
  return /^[\w.*-]+(?:\/[\w.*-]+)*\/?$/.test(path) && !path.startsWith('..') ? path : null
}

function isOutput(path: string): boolean {
  const folders = path.split('/').slice(0, -1)
  return OUTPUT_FOLDERS.has(path) || folders.some((name) => OUTPUT_FOLDERS.has(name)) || ARCHIVE.test(path)
}

/** Whether a path, whose last part may have wildcards, is there; one with others is taken to be. */
async function matches(tree: Tree, path: string): Promise<boolean> {
  const folder = posix.dirname(path)
  const name = posix.basename(path)
  if (folder.includes('*')) return true
  if (!name.includes('*')) return (await tree.hasFile(path)) || (await tree.hasFolder(path))
  const parts = name.split('*')
  const names = (await tree.list(folder)).map((each) => each.replace(/\/$/, ''))
  return names.some((each) => each.startsWith(parts[0]!) && each.endsWith(parts.at(-1)!))
}
