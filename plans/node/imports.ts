import { builtinModules } from 'node:module'
import { posix } from 'node:path'
import { linesOf } from '../source/text.ts'
import type { Tree } from '../source/tree.ts'
import type { Call } from './scripts.ts'

/** A program with more files of its own was bundled, or is too large to follow. */
const MAX_FILES = 400
/** Names under which each file is looked for. */
const MAX_LOOKS = 1_500

const ENDINGS = ['', '.js', '.ts', '.mjs', '.cjs', '.mts', '.tsx', '.jsx', '/index.js', '/index.ts']

/** Compiled files by the folder of their sources: `dist/main.js` comes from `src/main.ts`. */
const OUTPUT = /^(?:dist|build|lib|out)\/(?:src\/)?/

/** What one line imports; type imports do not exist at run time. */
const TAKES =
  /(?:^|[\s;}*])(?:from|import|export \* from) ?\(?["']([^"'\n]+)["']|\brequire\(["']([^"'\n]+)["']\)/

/**
 * Returns the packages that a program imports, followed through its own files from a start command; none where the command
 * names no file.
 */
export async function importedPackages(tree: Tree, call: Call): Promise<ReadonlySet<string>> {
  const packages = new Set<string>()
  const entry = entryOf(call)
  if (entry === null) return packages
  const first = (await fileOf(tree, entry)) ?? (await sourceOf(tree, entry))
  const waiting = first === null ? [] : [first]
  const seen = new Set(waiting)
  let looks = 0
  for (let file = waiting.pop(); file !== undefined && seen.size <= MAX_FILES; file = waiting.pop()) {
    for (const line of linesOf((await tree.readHead(file)) ?? '')) {
      const match = /^\s*(?:import|export) type\b/.test(line) ? null : TAKES.exec(line)
      const name = match?.[1] ?? match?.[2]
      if (name === undefined) continue
      if (!name.startsWith('.')) {
        if (!isNone(name)) packages.add(packageOf(name))
        continue
      }
      if (++looks > MAX_LOOKS) return packages
      const next = await fileOf(tree, posix.join(posix.dirname(file), name))
      if (next === null || seen.has(next)) continue
      seen.add(next)
      waiting.push(next)
    }
  }
  return packages
}

/** Programs that run a file. */
const RUNNERS = new Set(['node', 'tsx', 'ts-node', 'bun', 'nodemon', 'pm2-runtime'])

/** Returns the file that a call runs: its first word that is neither an option nor the value of one. */
function entryOf([program, ...words]: Call): string | null {
  if (program === undefined || !RUNNERS.has(program)) return null
  const takesValue = (word: string | undefined): boolean =>
    /^(?:-r|-e|--require|--import|--env-file)$/.test(word ?? '')
  const file = words.find(
    (word, index) => word !== 'run' && !word.startsWith('-') && !takesValue(words[index - 1]),
  )
  return file === undefined || !/^[\w@./-]+$/.test(file) ? null : posix.normalize(file)
}

/** `@scope/name/part` belongs to `@scope/name`. */
function packageOf(name: string): string {
  return name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/')
}

/** Modules of the runtime, and names that package.json or the compiler's settings map to files of the project. */
function isNone(name: string): boolean {
  return /^(?:node:|bun:|[#~/]|@\/|@$)/.test(name) || builtinModules.includes(name)
}

async function fileOf(tree: Tree, path: string): Promise<string | null> {
  if (path.startsWith('..')) return null
  // TypeScript imports a file by the name of its compiled form.
  const plain = path.replace(/\.([cm]?)js$/, '.$1ts')
  for (const candidate of [...ENDINGS.map((ending) => `${path}${ending}`), plain]) {
    if (await tree.hasFile(candidate)) return candidate
  }
  return null
}

async function sourceOf(tree: Tree, entry: string): Promise<string | null> {
  const name = entry.replace(OUTPUT, '')
  if (name === entry) return null
  return (await fileOf(tree, `src/${name}`)) ?? (await fileOf(tree, name))
}
