import { posix } from 'node:path'
import { isRecord } from '../source/json.ts'
import type { Tree } from '../source/tree.ts'
import type { Manifest } from './manifest.ts'

/** How many files one name may mean, by the conditions of `exports`. */
const MAX_TARGETS = 20

/** How many patterns of a package are compared with each name. */
const MAX_PATTERNS = 200

const ENDINGS = ['', '.js', '.ts', '.mjs', '.cjs', '.mts', '.cts', '.tsx', '.jsx']
const INDEXES = ['/index.js', '/index.ts', '/index.mjs', '/index.cjs', '/index.tsx']

/** Compiled files by the folder of their sources: `dist/main.js` comes from `src/main.ts`. */
const OUTPUT = /^(?:dist|build|lib|out)\/(?:(?:src|esm|cjs|es)\/)?/

/**
 * Returns the files, relative to a package, that a name in it may mean: `.` for the package itself, `./part`, or `#name` for
 * a name of its own (nodejs.org, "Package entry points").
 */
export function targetsOf({ main, module, value }: Manifest, name: string): string[] {
  const table = name.startsWith('#') ? value.imports : value.exports
  const named = mapped(table, name).filter((target) => target.startsWith('.'))
  if (named.length > 0 || name.startsWith('#')) return named
  if (name !== '.') return [name]
  const files = [main, module].filter((each) => each !== null)
  return files.length === 0 ? ['index'] : files
}

function mapped(table: unknown, name: string): string[] {
  const keys = isRecord(table) ? keysOf(table) : null
  // Without paths it has only conditions, for the package itself.
  if (keys === null || !isRecord(table)) return name === '.' ? textsIn(table) : []
  if (Object.hasOwn(table, name)) return textsIn(table[name])
  let best: { start: string; end: string } | null = null
  for (const key of keys) {
    const [start = '', end] = key.split('*')
    const isLess = end === undefined || (best !== null && best.start.length >= start.length)
    if (isLess || name.length < start.length + end.length) continue
    if (name.startsWith(start) && name.endsWith(end)) best = { start, end }
  }
  if (best === null) return []
  const part = name.slice(best.start.length, name.length - best.end.length)
  return textsIn(table[`${best.start}*${best.end}`]).map((target) => target.replaceAll('*', () => part))
}

/** The patterns of tables that were already asked. */
const known = new WeakMap<Record<string, unknown>, string[] | null>()

/** Returns the patterns of a table of paths; null for one that has only conditions. */
function keysOf(table: Record<string, unknown>): string[] | null {
  const before = known.get(table)
  if (before !== undefined) return before
  const paths = Object.keys(table).filter((key) => /^[.#]/.test(key))
  const patterns = paths.filter((key) => key.includes('*')).slice(0, MAX_PATTERNS)
  const keys = paths.length === 0 ? null : patterns
  known.set(table, keys)
  return keys
}

/** Returns the texts in a value under any condition, except those for types. */
function textsIn(value: unknown): string[] {
  const texts: string[] = []
  const waiting = [value]
  for (let each = waiting.pop(); each !== undefined && texts.length < MAX_TARGETS; each = waiting.pop()) {
    if (typeof each === 'string') texts.push(each)
    else if (Array.isArray(each)) waiting.push(...(each as unknown[]).slice(0, MAX_TARGETS))
    else if (isRecord(each)) {
      const others = Object.entries(each).filter(([condition]) => condition !== 'types')
      waiting.push(...others.slice(0, MAX_TARGETS).map(([, other]) => other))
    }
  }
  return texts
}

/** Returns the file of a tree that a path means, as node and the compilers look for it; null for none. */
export async function fileOf(tree: Tree, path: string): Promise<string | null> {
  if (path.startsWith('..')) return null
  // TypeScript imports a file by the name of its compiled form.
  const stem = path.replace(/\.[cm]?js$/, '')
  const sources = stem === path ? [] : ['.ts', '.tsx', '.mts', '.cts'].map((ending) => `${stem}${ending}`)
  const others = [...ENDINGS, ...INDEXES].map((ending) => `${path}${ending}`)
  for (const candidate of [...others, ...sources]) {
    if (await tree.hasFile(candidate)) return posix.normalize(candidate)
  }
  return null
}

/** The same for a path below a package's folder, which the build may make from another file. */
export async function fileOrSource(tree: Tree, folder: string, path: string): Promise<string | null> {
  const found = await fileOf(tree, posix.join(folder, path))
  if (found !== null) return found
  const plain = posix.normalize(path)
  const name = plain.replace(OUTPUT, '')
  if (name === plain) return null
  return (
    (await fileOf(tree, posix.join(folder, 'src', name))) ?? (await fileOf(tree, posix.join(folder, name)))
  )
}
