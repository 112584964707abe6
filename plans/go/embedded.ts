import { posix } from 'node:path'
import { readAssets, readFrontEnd, type Assets } from '../node/assets.ts'
import { readConfiguration, settingOf, variants } from '../node/frameworks.ts'
import type { PlanSettings } from '../plan.ts'
import { findInLines, hasLine, linesOf } from '../source/text.ts'
import type { Tree } from '../source/tree.ts'

/** How many folders are searched for a front end, and how deep. */
const MAX_FOLDERS = 100
const MAX_DEPTH = 3

/** How many Go files are read in total. */
const MAX_SOURCES = 200

/** File names that exclude a file from a build for Linux (pkg.go.dev, "go help buildconstraint"). */
const OF_OTHER_SYSTEMS =
  /_(?:aix|android|darwin|dragonfly|freebsd|illumos|ios|js|netbsd|openbsd|plan9|solaris|wasip1|wasm|windows)(?:_\w+)?\.go$/

/** Folders that do not belong to the program, or whose names cannot be written into a command. */
const NOT_LOOKED_INTO =
  /^(?:[._].*|node_modules|vendor|testdata|third_party|(?:docs?|tests?|e2e|examples?)\/|.*[^\w.@/-].*)/i

/** A Go package that embeds the output of a front end's build, which the source does not have. */
interface Embedded {
  /** The front end's folder, which has the package.json. */
  folder: string
  /** What is embedded, such as `ui/build`. */
  output: string
  /** The file with the directive. */
  source: string
}

/**
 * Plans what node builds for a Go program: the scripts of the root's package.json, else the build of a front end that the
 * program embeds (`//go:embed`). A build command of the service replaces all of it. `programs` are the folders of the
 * programs that are built.
 */
export async function readGoAssets(
  tree: Tree,
  settings: PlanSettings,
  programs: readonly string[],
  notes: string[],
): Promise<Assets> {
  const isOther = settings.buildCommand !== null || (await tree.hasFile('package.json'))
  const embedded = isOther ? null : await new Search(tree, programs).run()
  if (embedded === null) return await readAssets(tree, settings, notes)
  const { folder, output, source } = embedded
  const assets = await readFrontEnd(tree, folder, settings, notes)
  if (assets.commands.length > 0)
    notes.push(`${source} embeds ${output}, which the source does not have: building ${folder} before it`)
  return assets
}

interface Taken {
  output: string
  source: string
}

/** Finds a front end whose output a package embeds, although the source does not have it. */
class Search {
  readonly #tree: Tree
  /** Folders of the programs that are built. */
  readonly #programs: Set<string>
  readonly #read = new Map<string, Promise<Taken[]>>()
  #left = MAX_SOURCES

  constructor(tree: Tree, programs: readonly string[]) {
    this.#tree = tree
    this.#programs = new Set(programs.map((program) => posix.normalize(program)))
  }

  async run(): Promise<Embedded | null> {
    for (const folder of await frontEndsOf(this.#tree)) {
      const inside = await this.#above(folder, folder, (path) => path.startsWith(`${folder}/`))
      if (inside !== null) return inside
      const output = await outputOutside(this.#tree, folder)
      const isOf = (path: string): boolean =>
        `${path}/`.startsWith(`${output}/`) || output!.startsWith(`${path}/`)
      const outside = output === null ? null : await this.#above(posix.dirname(output), folder, isOf)
      if (outside !== null) return outside
    }
    return null
  }

  /**
   * Returns what packages embed of a front end, from the folder above it upwards: the front end is below the package that
   * embeds it.
   */
  async #above(from: string, folder: string, isOf: (path: string) => boolean): Promise<Embedded | null> {
    for (let place = from; ; place = posix.dirname(place)) {
      // A separate module is not built here.
      if (place !== '.' && (await this.#tree.hasFile(`${place}/go.mod`))) return null
      for (const { output, source } of await this.#takenIn(place))
        if (isOf(output) && !(await hasOutput(this.#tree, output))) return { folder, output, source }
      if (place === '.') return null
    }
  }

  async #takenIn(place: string): Promise<Taken[]> {
    const known = this.#read.get(place) ?? this.#readPackage(place)
    this.#read.set(place, known)
    return await known
  }

  /** Returns the folders that the files of a package embed in every build for Linux (pkg.go.dev/embed, "Directives"). */
  async #readPackage(place: string): Promise<Taken[]> {
    const taken: Taken[] = []
    for (const name of await this.#tree.list(place)) {
      if (!name.endsWith('.go') || name.endsWith('_test.go') || OF_OTHER_SYSTEMS.test(name)) continue
      if (--this.#left < 0) break
      const source = posix.join(place, name)
      const text = (await this.#tree.readHead(source)) ?? ''
      if (hasLine(text, /^package main\b/) && !this.#programs.has(place)) break
      if (isOfSomeBuilds(text)) continue
      taken.push(...patternsOf(text).map((path) => ({ output: posix.join(place, path), source })))
    }
    return taken
  }
}

/**
 * Returns the folder outside its own to which the build of a front end writes, by Vite's command line or settings, such as
 * `internal/web/dist` (vite.dev, "build.outDir"); null for any other place.
 */
async function outputOutside(tree: Tree, folder: string): Promise<string | null> {
  const build =
    /"build"\s*:\s*"([^"\n]*)"/.exec((await tree.readText(`${folder}/package.json`)) ?? '')?.[1] ?? ''
  const settings = await readConfiguration(tree.folder(folder), variants('vite.config'))
  const root = settingOf(settings, /\broot\s*:\s*["'`]([\w./-]+)["'`]/) ?? '.'
  const below =
    settingOf(build, /--outDir[= ]["']?([\w./-]+)/) ??
    settingOf(settings, /\boutDir\s*:\s*["'`]([\w./-]+)["'`]/)
  const resolved = settingOf(
    settings,
    /\boutDir\s*:\s*(?:path\.)?(?:resolve|join)\(\s*__dirname\s*,\s*["'`]([\w./-]+)["'`]\s*\)/,
  )
  if (below === null && resolved === null) return null
  const output = posix.join(folder, below === null ? resolved! : posix.join(root, below)).replace(/\/$/, '')
  const isOutside = !`${output}/`.startsWith(`${folder}/`)
  return isOutside && /^[\w@-]/.test(output) ? output : null
}

/** Returns the folders that a file embeds, relative to its own. */
function patternsOf(text: string): string[] {
  const patterns = [...linesOf(text)].flatMap(
    (line) => /^\s*\/\/go:embed[ \t](.*)$/.exec(line)?.[1]?.trim().split(/\s+/) ?? [],
  )
  return patterns.map(folderOf).filter((path) => path !== null)
}

/** Returns the folders below the root with a package.json, the deepest first. */
async function frontEndsOf(tree: Tree): Promise<string[]> {
  const found: string[] = []
  let places = ['.']
  let left = MAX_FOLDERS
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    const below: string[] = []
    for (const place of places) {
      for (const name of await tree.list(place)) {
        if (!name.endsWith('/') || NOT_LOOKED_INTO.test(name) || left === 0) continue
        left -= 1
        const path = posix.join(place, name.slice(0, -1))
        below.push(path)
        if (await tree.hasFile(`${path}/package.json`)) found.unshift(path)
      }
    }
    places = below
  }
  return found
}

/** Whether a file is compiled only under a build constraint; a negated tag that nobody sets does not count. */
function isOfSomeBuilds(text: string): boolean {
  const constraint = findInLines(text, /^\/\/(?:go:build| \+build)[ \t](.*)$/)?.trim()
  return constraint !== undefined && !/^!(?:dev|debug|noembed|noui|nofrontend)$/.test(constraint)
}

/** Returns the folder part of a pattern, before the first wildcard; null for a pattern of files. */
function folderOf(pattern: string): string | null {
  const parts = pattern.replaceAll(/["`]/g, '').replace(/^all:/, '').split('/')
  const at = parts.findIndex((part) => /[*?[\\]/.test(part))
  const folder = (at === -1 ? parts : parts.slice(0, at)).join('/')
  const isFile = at === -1 && /\.\w+$/.test(folder)
  return folder === '' || isFile || !/^[\w@-][\w./@-]*$/.test(folder) ? null : folder
}

/** Whether there is anything to embed: more than the placeholder that keeps an empty folder in git. */
async function hasOutput(tree: Tree, path: string): Promise<boolean> {
  return (await tree.hasFile(path)) || (await tree.list(path)).some((name) => !name.startsWith('.'))
}
