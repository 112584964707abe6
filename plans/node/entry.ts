import { withoutSlashComments } from '../source/comments.ts'
import { pagesIn } from '../source/pages.ts'
import { hasLine } from '../source/text.ts'
import type { Tree } from '../source/tree.ts'
import type { Framework } from './frameworks.ts'
import type { PackageManager } from './managers.ts'
import type { Manifest, Manifests } from './manifest.ts'
import { callsOf } from './scripts.ts'

/** What is known about a project when its entry point is searched for. */
export interface StartSearch {
  tree: Tree
  manifest: Manifest
  /** The packages of the workspace by folder; empty for none. */
  packages: Manifests
  manager: PackageManager
  framework: Framework | null
  /** The version of node; null for Bun, which runs TypeScript. */
  major: number | null
  notes: string[]
}

/** Files to start when nothing says what to start, in this order, in each folder. */
const ENTRY_NAMES = ['server', 'index', 'app', 'main']
const JAVASCRIPT = ['js', 'mjs', 'cjs']
const TYPESCRIPT = ['ts', 'mts']

/** From this version on node runs TypeScript directly (nodejs.org, "Running TypeScript Natively"; 22.18). */
const FIRST_TYPESCRIPT_MAJOR = 22

/** Configuration files of tools, which people leave in `main` instead of a program. */
const TASKS = /^(?:gulpfile|gruntfile|(?:webpack|rollup|vite)\.config)\b/i

/** Folders in which a project that serves by itself may have its program, without a package.json in that folder. */
const SERVERS = 'server'

/** What a file must fulfil to be started. */
interface Wanted {
  /** Whether the project has a package for servers. */
  serves?: boolean
  /** Whether the file itself has to listen. */
  listens?: boolean
}

/** Returns the command that starts the file that looks like a program; null for none. */
export async function entryOf(
  search: StartSearch,
  { serves = false, listens = false }: Wanted,
): Promise<string | null> {
  if (listens) return await entryBy(listensItself, search, true)
  const found = await entryBy(isProgram, search, serves && search.framework === null)
  if (found !== null || search.framework !== null) return found
  // A server may look like a script of a page.
  const hidden = serves ? await entryBy((tree, file) => tree.hasFile(file), search, false) : null
  return hidden ?? (await watchedEntry(search, serves))
}

/** The same, with the checks for a file given; also in the folders for servers. */
async function entryBy(
  isProgram: (tree: Tree, file: string) => Promise<boolean>,
  search: StartSearch,
  inServers: boolean,
): Promise<string | null> {
  const { tree, manifest, framework, major } = search
  const { scripts } = manifest
  const main = TASKS.test(manifest.main ?? '') ? null : manifest.main
  const run = major === null ? 'bun run' : 'node'
  if (main !== null && /^[\w./@-]+$/.test(main) && !main.includes('..')) {
    for (const file of [main, `${main}.js`, `${main}/index.js`]) {
      if (/\.[cm]?js$/.test(file) && (await isProgram(tree, file))) return `${run} ${file}`
    }
    if (/\.[cm]?tsx?$/.test(main) && (await isProgram(tree, main))) return typescript(main, search)
    // A missing file is one that the build creates.
    const isMade = /\.[cm]?js$/.test(main) && scripts.build !== undefined && framework === null
    if (isMade && !(await tree.hasFile(main)) && !(await isNeverMade(main, search))) return `${run} ${main}`
  }
  for (const folder of ['', 'src/']) {
    for (const file of filesOf(folder, JAVASCRIPT)) if (await isProgram(tree, file)) return `${run} ${file}`
  }
  for (const folder of ['src/', '']) {
    for (const file of filesOf(folder, TYPESCRIPT)) {
      if (await isProgram(tree, file)) return (await compiled(file, search)) ?? typescript(file, search)
    }
  }
  // For a library, `module` is the output of its build.
  const { module } = manifest
  if (module !== null && /^[\w./@-]+\.[cm]?[jt]sx?$/.test(module) && !module.includes('..'))
    if (await tree.hasFile(module))
      return /\.[cm]?js$/.test(module) ? `${run} ${module}` : typescript(module, search)
  if (!inServers || (await tree.hasFile(`${SERVERS}/package.json`))) return null
  for (const file of filesOf(`${SERVERS}/`, [...JAVASCRIPT, ...TYPESCRIPT])) {
    if (await isProgram(tree, file)) return file.endsWith('js') ? `${run} ${file}` : typescript(file, search)
  }
  return null
}

/** Returns the command for a TypeScript file; null where nothing runs it. */
function typescript(file: string, { manifest: { dependencies }, major, notes }: StartSearch): string | null {
  if (major === null) return `bun run ${file}`
  for (const runner of ['tsx', 'ts-node']) if (runner in dependencies) return `${runner} ${file}`
  if (major >= FIRST_TYPESCRIPT_MAJOR) return `node ${file}`
  notes.push(`node ${major} does not run ${file}: pin node ${FIRST_TYPESCRIPT_MAJOR} or newer, or add tsx`)
  return null
}

/** Returns the command where the TypeScript compiler writes the output of src/ elsewhere; null where it does not. */
async function compiled(
  file: string,
  { tree, manifest: { scripts }, major }: StartSearch,
): Promise<string | null> {
  const builds = callsOf(scripts.build ?? '', scripts).some(([program]) => program === 'tsc')
  if (!builds || major === null) return null
  const folder = await outputOf(tree)
  return folder === undefined ? null : `node ${folder}/${file.replace(/^src\//, '').replace(/ts$/, 'js')}`
}

/** Returns the output folder of the TypeScript compiler; undefined where it writes next to the sources. */
async function outputOf(tree: Tree): Promise<string | undefined> {
  const settings = withoutSlashComments((await tree.readText('tsconfig.json')) ?? '')
  return /"outDir"\s*:\s*"(?:\.\/)?([\w/-]+?)\/?"/.exec(settings)?.[1]
}

/** Scripts that npm runs by itself, which may create anything (docs.npmjs.com, "scripts"). */
const BESIDE_BUILD = ['prebuild', 'postbuild', 'preinstall', 'install', 'postinstall', 'prepare']

/** Whether `main` is the default of `npm init`, and not in the output folder of a compiler that alone builds. */
async function isNeverMade(main: string, { tree, manifest: { scripts } }: StartSearch): Promise<boolean> {
  const calls = callsOf(scripts.build ?? '', scripts)
  const isCompiled =
    calls.length > 0 &&
    calls.every((call) => call.length === 1 && call[0] === 'tsc') &&
    !BESIDE_BUILD.some((name) => name in scripts)
  const folder = isCompiled ? await outputOf(tree) : undefined
  return folder !== undefined && !main.replace(/^\.\//, '').startsWith(`${folder}/`)
}

/** Programs that restart a file whenever it changes, always or with an option. */
const WATCHERS = new Set(['nodemon', 'ts-node-dev', 'tsnd'])
const TOLD_WATCHERS = new Set(['tsx', 'node', 'bun'])
const WATCHING = /^(?:watch|--watch(?:-path)?(?:=.*)?|--hot)$/

/** Options that take a file, which is not the program. */
const WITH_FILE = new Set(['-r', '--require', '--import', '-i', '--ignore', '-w', '--config', '--env-file'])

/** A dev server, by its name or by the tools with which it shows pages. */
const DEVELOPMENT_SERVER = /(?:^|\/)(?:webpack-)?dev-server\.\w+$/
const OF_DEVELOPMENT =
  /["'](?:webpack|webpack-dev-server|browser-sync|esbuild|rollup|vite|live-server|livereload)["']/

/**
 * Returns the command that starts what a script for developers watches, where nothing else says how to start and there are
 * no pages.
 */
async function watchedEntry(search: StartSearch, serves: boolean): Promise<string | null> {
  const { tree, major } = search
  const file = watchedFile(search.manifest)
  if (file === null || DEVELOPMENT_SERVER.test(file) || (await pagesIn(tree)) !== null) return null
  // Not in a folder with packages of its own, which are not installed.
  if (file.includes('/') && (await tree.hasFile(`${file.split('/', 1)[0]}/package.json`))) return null
  const text = withoutSlashComments((await tree.readHead(file)) ?? '')
  const isServer = (await tree.hasFile(file)) && (serves || hasLine(text, LISTENING))
  if (!isServer || hasLine(text, OF_DEVELOPMENT)) return null
  if (file.endsWith('js')) return `${major === null ? 'bun run' : 'node'} ${file}`
  return (await compiled(file, search)) ?? typescript(file, search)
}

/** Returns the file that the script `dev` alone starts and restarts; null for none. */
function watchedFile({ scripts }: Manifest): string | null {
  const [call, ...others] = callsOf(scripts.dev ?? '', scripts)
  const [program = '', ...words] = call ?? []
  const isWatched =
    WATCHERS.has(program) || (TOLD_WATCHERS.has(program) && words.some((word) => WATCHING.test(word)))
  if (others.length > 0 || !isWatched) return null
  const file = words.findLast(
    (word, at) =>
      /^(?:\.\/)?[\w@][\w./@-]*\.[cm]?[jt]s$/.test(word) &&
      !word.includes('..') &&
      !WITH_FILE.has(words[at - 1] ?? ''),
  )
  return file?.replace(/^\.\//, '') ?? null
}

function filesOf(folder: string, endings: string[]): string[] {
  return ENTRY_NAMES.flatMap((name) => endings.map((ending) => `${folder}${name}.${ending}`))
}

/** Calls with which servers for node listen. */
export const LISTENING = /\.listen\(|\bserve\(|\bcreateServer\(|\bDeno\.serve\b/

/** What a node program has, and the script of a page without a bundler has not. */
const OF_NODE =
  /\brequire\(|\bmodule\.exports\b|\bprocess\.|^\s*(?:import|export)\b.*\bfrom ["'][^./]|^\s*import ["'][^./]/

/** What the script of a page does, in terms of browsers. */
const OF_PAGES =
  /\bdocument\.(?:querySelector|getElement|addEventListener|createElement|body\b)|\bwindow\.(?:addEventListener|location|onload)\b/

/** What a server that renders pages does, and a program that reads pages of other sites. */
const OF_DRAWING = /\bcreateSSRApp\b|(?<!\bdocument)\.(?:evaluate|\$\$?eval)\(/

/** What only a bundler can process: rendering packages, styles, components. */
const OF_BUNDLES =
  /^\s*(?:import|export)\b.*["'](?:react-dom(?:\/client)?|vue|svelte|preact)["']|^\s*import\b.*["'][^"']+\.(?:css|s[ac]ss|less|vue|svelte)["']/

/** Whether a file is there and does not run only in browsers. */
async function isProgram(tree: Tree, file: string): Promise<boolean> {
  const head = await tree.readHead(file)
  if (head === null) return false
  // A regular expression such as /\/*/ looks like the start of a comment.
  if (hasLine(head, LISTENING)) return true
  const text = withoutSlashComments(head)
  if (hasLine(text, OF_DRAWING)) return true
  return !hasLine(text, OF_BUNDLES) && (hasLine(text, OF_NODE) || !hasLine(text, OF_PAGES))
}

async function listensItself(tree: Tree, file: string): Promise<boolean> {
  return hasLine(withoutSlashComments((await tree.readHead(file)) ?? ''), LISTENING)
}
