import { builtinModules } from 'node:module'
import { posix } from 'node:path'
import { BuildFailure } from '../source/failure.ts'
import type { Tree } from '../source/tree.ts'
import type { Manifest } from './manifest.ts'
import type { Project } from './project.ts'
import type { Call } from './scripts.ts'
import { takenBy } from './imported.ts'
import { fileOf, fileOrSource, targetsOf } from './targets.ts'
import { memberNamed, namesOf } from './workspace.ts'

/** A program with more files of its own was bundled, or is too large to follow. */
const MAX_FILES = 400
/** Names for which a file is looked for. */
const MAX_LOOKS = 1_500
/** A larger file was bundled. */
const MAX_FILE_BYTES = 512 * 1024
const MAX_CHARACTERS = 16 * 1024 * 1024

/** Files that import others; a program may have no ending. */
const CODE = /(?:^|\/)[^./]*$|\.[cm]?[jt]sx?$/

/** A package that a program imports, and the folder of the package whose file imports it. */
export interface Import {
  name: string
  folder: string
}

/** What a program reaches from its start command. */
export interface Reached {
  imports: Import[]
  /** Why it may reach more; null where it does not. */
  unknown: string | null
}

/**
 * Returns the packages that a program imports, followed through its own files and those of its workspace from the files that
 * calls name.
 */
export async function reachedBy(project: Project, calls: readonly Call[]): Promise<Reached> {
  const following = new Following(project)
  for (const call of calls) await following.start(call)
  return { imports: await following.all(), unknown: following.unknown }
}

class Following {
  unknown: string | null = null
  readonly #project: Project
  readonly #tree: Tree
  readonly #names: ReadonlyMap<string, string>
  /** Every file that is found, in the order in which they are read. */
  readonly #files = new Set<string>()
  readonly #imports = new Map<string, Import>()
  #looks = 0
  #characters = 0

  constructor(project: Project) {
    this.#project = project
    this.#tree = project.root
    this.#names = namesOf(project.packages)
  }

  async start(call: Call): Promise<void> {
    const { folder, manifest } = this.#project
    for (const entry of entriesOf(call)) {
      const main = entry === '.' ? manifest.main : null
      const file = await fileOrSource(this.#tree, folder, main ?? entry)
      if (file !== null) this.#files.add(file)
    }
  }

  async all(): Promise<Import[]> {
    // A set yields what is added while it is read.
    for (const file of this.#files) {
      if (this.#files.size > MAX_FILES) this.unknown ??= 'the program has more files than are followed'
      if (this.unknown !== null) break
      if (CODE.test(file)) await this.#read(file)
    }
    return [...this.#imports.values()]
  }

  async #read(file: string): Promise<void> {
    const text = await this.#textOf(file)
    this.#characters += text?.length ?? 0
    if (text === null || this.#characters > MAX_CHARACTERS) {
      this.unknown = `${file} is too large to be followed`
      return
    }
    const { names, isOpen } = takenBy(text)
    for (const name of names) await this.#take(name, file)
    if (isOpen) this.unknown ??= `${file} loads what it works out while it runs`
  }

  async #textOf(file: string): Promise<string | null> {
    try {
      return (await this.#tree.readText(file, MAX_FILE_BYTES)) ?? ''
    } catch (error) {
      if (error instanceof BuildFailure) return null
      throw error
    }
  }

  async #take(name: string, file: string): Promise<void> {
    if (this.unknown !== null || isOfRuntime(name)) return
    if (name.startsWith('.')) return await this.#follow([posix.join(posix.dirname(file), name)])
    const folder = this.#folderOf(file)
    const manifest = this.#manifestOf(folder)
    if (name.startsWith('#')) {
      return await this.#follow(targetsOf(manifest, name).map((target) => posix.join(folder, target)))
    }
    // The compiler's settings usually map these to the package's own files.
    const own = /^[@~]?\/(.+)$/.exec(name)?.[1]
    if (own !== undefined) return await this.#follow(placesOf(folder, own))
    const imported = packageOf(name)
    this.#imports.set(`${folder}\n${imported}`, { name: imported, folder })
    const member = memberNamed(imported, folder, manifest, this.#project.packages, this.#names)
    if (member !== null) return await this.#enter(member, name, imported)
    // With `baseUrl` even a plain name may be a file of the project.
    if (!(imported in manifest.dependencies)) await this.#follow(placesOf(folder, name))
  }

  /** Follows an import into another package of the workspace. */
  async #enter(folder: string, name: string, imported: string): Promise<void> {
    const targets = targetsOf(this.#manifestOf(folder), `.${name.slice(imported.length)}`)
    let isFound = false
    for (const target of targets) {
      if (this.#isSpent()) return
      const file = await fileOrSource(this.#tree, folder, target)
      if (file === null) continue
      this.#files.add(file)
      isFound = true
    }
    if (!isFound) this.unknown ??= `nothing shows which file of ${folder} it imports`
  }

  /** Adds the first file of several places. */
  async #follow(places: string[]): Promise<void> {
    for (const place of places) {
      if (this.#files.has(place)) return
      if (this.#isSpent()) return
      const file = await fileOf(this.#tree, place)
      if (file === null) continue
      this.#files.add(file)
      return
    }
  }

  #isSpent(): boolean {
    this.#looks += 1
    if (this.#looks > MAX_LOOKS) this.unknown ??= 'the program has more imports than are followed'
    return this.unknown !== null
  }

  /** Returns the folder of the package that a file belongs to; empty for the root. */
  #folderOf(file: string): string {
    for (let at = file.lastIndexOf('/'); at > 0; at = file.lastIndexOf('/', at - 1)) {
      if (this.#project.packages.has(file.slice(0, at))) return file.slice(0, at)
    }
    return ''
  }

  #manifestOf(folder: string): Manifest {
    return this.#project.packages.get(folder) ?? this.#project.rootManifest
  }
}

/** Programs that run a file. */
const RUNNERS = new Set(['node', 'tsx', 'ts-node', 'bun', 'nodemon', 'pm2-runtime'])

/** Options that load a file before the program, and all that have a value. */
const LOADING = /^(?:-r|--require|--import)$/
const WITH_VALUE = /^(?:-r|-e|--require|--import|--env-file)$/

/** Returns the files that a call runs: its first word that is neither an option nor the value of one, and what is loaded before. */
function entriesOf([program, ...words]: Call): string[] {
  if (program === undefined || !RUNNERS.has(program)) return []
  const file = words.find(
    (word, at) => word !== 'run' && !word.startsWith('-') && !WITH_VALUE.test(words[at - 1] ?? ''),
  )
  const loaded = words.filter((word, at) => word.startsWith('.') && LOADING.test(words[at - 1] ?? ''))
  return [...loaded, ...(file === undefined ? [] : [file])]
    .filter((each) => /^[\w@./-]+$/.test(each))
    .map((each) => posix.normalize(each))
}

/** `@scope/name/part` belongs to `@scope/name`. */
function packageOf(name: string): string {
  return name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/')
}

/** Where a name may be in a package, by the settings that compilers' starters have. */
function placesOf(folder: string, name: string): string[] {
  return [posix.join(folder, 'src', name), posix.join(folder, name)]
}

function isOfRuntime(name: string): boolean {
  return /^(?:node:|bun:|[~@]$|https?:)/.test(name) || builtinModules.includes(name)
}
