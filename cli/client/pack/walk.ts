import { isUtf8 } from 'node:buffer'
import { lstatSync, readdirSync, readlinkSync, realpathSync, type Dirent, type Stats } from 'node:fs'
import { dirname, isAbsolute, join, posix, relative, sep } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { EXIT } from '../../fault.ts'
import { Entries, type Contents } from './entries.ts'
import { packingFault, unreadable } from './faults.ts'
import type { RuledFolder, Rules } from './rules.ts'

/** So that Ctrl-C is noticed and a spinner turns. */
const MAX_BLOCKED_MS = 50
/** Later times have no room in a tar header, and earlier ones no number. */
const MAX_TIME_S = 0o77777777777
const OWNER_MAY_EXECUTE = 0o100
/** Stands for bytes that are not UTF-8. */
const REPLACED = '\ufffd'

/** An entry of a folder as it is listed, with a character for each byte of its name. */
type Found = Dirent

/** Something to visit: an entry itself, or what is in a folder, which comes after names such as `folder.txt`. */
interface Visit {
  key: string
  entry: Found
  isInside: boolean
}

/** Lists what the rules leave of a folder. Throws a Fault for what cannot be deployed. */
export async function walk(folder: string, rules: Rules, signal?: AbortSignal): Promise<Contents> {
  const walker = new Walker(folder, rules, signal)
  await walker.run()
  return walker.contents
}

class Walker {
  readonly contents: Contents = { entries: new Entries(), files: 0, links: 0, bytes: 0, unpackable: [] }
  readonly #folder: string
  readonly #rules: Rules
  readonly #signal: AbortSignal | undefined
  #lastPause = performance.now()

  constructor(folder: string, rules: Rules, signal: AbortSignal | undefined) {
    this.#folder = folder
    this.#rules = rules
    this.#signal = signal
  }

  async run(): Promise<void> {
    const found = this.#read('')
    await this.#walk(this.#rules.top(filesOf(found)), found)
  }

  /** Goes through a folder in the byte order of the paths in it. */
  async #walk(folder: RuledFolder, found: Found[]): Promise<void> {
    await this.#pause()
    const entered = new Map<Found, RuledFolder>()
    for (const { entry, isInside } of visitsOf(found)) {
      if (!isInside) this.#visit(folder, entry, entered)
      else {
        const inside = entered.get(entry)
        if (inside === undefined) continue
        const within = this.#read(inside.path)
        await this.#walk(this.#rules.enter(inside, filesOf(within)), within)
      }
    }
  }

  #visit(parent: RuledFolder, entry: Found, entered: Map<Found, RuledFolder>): void {
    const name = readable(entry.name)
    const { isPacked, folder } = this.#rules.judge(parent, name, entry.isDirectory())
    const path = parent.path === '' ? name : `${parent.path}/${name}`
    if ((isPacked || folder !== null) && name.includes(REPLACED) && !isUtf8(bytesOf(entry.name)))
      throw packingFault(EXIT.wrongWords, `the name of ${path} is not UTF-8; rename it`)
    if (folder !== null) entered.set(entry, folder)
    if (isPacked) this.#add(path, entry)
  }

  #add(path: string, entry: Found): void {
    if (!entry.isFile() && !entry.isDirectory() && !entry.isSymbolicLink()) {
      this.contents.unpackable.push(path)
      return
    }
    const facts = this.#look(path)
    if (facts === undefined) return
    const modified = Math.min(Math.max(Math.floor(facts.mtimeMs / 1000), 0), MAX_TIME_S)
    const { entries } = this.contents
    const common = { path, size: 0, isExecutable: false, modified, target: '' }
    if (entry.isDirectory()) entries.add({ ...common, kind: 'folder' })
    else if (entry.isSymbolicLink()) {
      entries.add({ ...common, kind: 'link', target: this.#targetOf(path) })
      this.contents.links += 1
    } else {
      const isExecutable = (facts.mode & OWNER_MAY_EXECUTE) !== 0
      entries.add({ ...common, kind: 'file', size: facts.size, isExecutable })
      this.contents.files += 1
      this.contents.bytes += facts.size
    }
  }

  /** Undefined for what was removed in the meantime. */
  #look(path: string): Stats | undefined {
    return lstatSync(join(this.#folder, path), { throwIfNoEntry: false })
  }

  #read(path: string): Found[] {
    try {
      return readdirSync(join(this.#folder, path), { withFileTypes: true, encoding: 'latin1' })
    } catch (error) {
      throw unreadable(path === '' ? this.#folder : path, error)
    }
  }

  /** Where a link leads. Throws a Fault for one that leads out of the folder, also by way of other links. */
  #targetOf(path: string): string {
    const place = join(this.#folder, path)
    const bytes = readlinkSync(place, 'buffer')
    const target = bytes.toString().replaceAll(sep, '/')
    if (!isUtf8(bytes))
      throw packingFault(
        EXIT.wrongWords,
        `${path} is a link to ${target}, whose name is not UTF-8; rename it`,
      )
    const reached = posix.join(posix.dirname(path), target)
    if (isAbsolute(target) || isOutside(reached) || this.#leadsOut(`${dirname(place)}/${target}`))
      throw packingFault(
        EXIT.wrongWords,
        `${path} is a link to ${target}, out of the folder; make it lead inside, or leave it out in .deployerignore`,
      )
    return target
  }

  /** Whether a path leads out by way of links; of one to nothing, what there is of it counts. */
  #leadsOut(path: string): boolean {
    for (let part = path; ; part = part.slice(0, part.lastIndexOf('/')))
      try {
        return isOutside(relative(this.#folder, realpathSync.native(part)).replaceAll(sep, '/'))
      } catch {
        if (part.length <= this.#folder.length) return true
      }
  }

  async #pause(): Promise<void> {
    this.#signal?.throwIfAborted()
    if (performance.now() - this.#lastPause < MAX_BLOCKED_MS) return
    await setImmediate()
    this.#lastPause = performance.now()
  }
}

function visitsOf(found: Found[]): Visit[] {
  return found
    .flatMap((entry): Visit[] => {
      const itself = { key: entry.name, entry, isInside: false }
      if (!entry.isDirectory()) return [itself]
      return [itself, { key: `${entry.name}/`, entry, isInside: true }]
    })
    .sort((one, other) => (one.key < other.key ? -1 : 1))
}

function filesOf(found: Found[]): Set<string> {
  return new Set(found.filter((entry) => entry.isFile()).map(({ name }) => name))
}

function bytesOf(name: string): Buffer {
  return Buffer.from(name, 'latin1')
}

function readable(name: string): string {
  return /^[\0-\x7f]*$/.test(name) ? name : bytesOf(name).toString()
}

function isOutside(path: string): boolean {
  return path === '..' || path.startsWith('../') || isAbsolute(path)
}
