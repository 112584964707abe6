import { createHash } from 'node:crypto'
import { BuildFailure } from '#plans/index.ts'
import {
  isTooLarge,
  MAX_SUBMODULES,
  TOO_LARGE,
  TOO_MANY_SUBMODULES,
  type CheckoutUse,
} from './checkout-limits.ts'
import { isPathTooLong, PATH_TOO_LONG } from './path-limits.ts'
import type { Repository } from './repository.ts'

/** Modes of tree entries that are not files (gitdatamodel(7)). */
const FOLDER = '040000'
const LINK = '120000'
const COMMIT = '160000'
/** A line of `git ls-tree -l`. */
const ENTRY = /^(\d+) \S+ ([0-9a-f]+) +(\d+|-)\t(.*)$/s
/** All paths together; those of the largest public projects have 8 MiB. */
const MAX_PATHS_CHARACTERS = 128 * 1024 * 1024
/** The maximum size of the settings files that the server reads. Those of the largest public projects have 40 KiB. */
const MAX_SETTINGS_BYTES = 256 * 1024

/** What is known about a commit's tree before it is written. */
export interface JudgedTree {
  sha: string
  bytes: number
  /** Includes links, but not folders or submodules. */
  files: number
  folders: number
  /** A digest of its .gitattributes files, which decide how git writes files (gitattributes(5)); null if it has none. */
  attributes: string | null
  /** The commits of other repositories that it includes, and where. */
  submodules: { path: string; sha: string }[]
  /** Whether it has a .gitmodules and a .lfsconfig at its root. */
  hasModules: boolean
  hasLfsConfiguration: boolean
}

/**
 * Lists a commit's tree. Throws BuildFailure when it is too large together with `used`, since a few kilobytes of git's
 * objects can expand to any number of files.
 */
export async function judgeTree(repository: Repository, sha: string, used: CheckoutUse): Promise<JudgedTree> {
  const judged: JudgedTree = {
    sha,
    bytes: 0,
    files: 0,
    folders: 0,
    attributes: null,
    submodules: [],
    hasModules: false,
    hasLfsConfiguration: false,
  }
  const attributes = createHash('sha256')
  let characters = 0
  const onEntry = (line: string): void => {
    const [, mode = '', object = '', size, path = ''] = ENTRY.exec(line) ?? []
    characters += path.length
    if (isPathTooLong(path) || characters > MAX_PATHS_CHARACTERS) throw new BuildFailure(PATH_TOO_LONG)
    if (mode === COMMIT) judged.submodules.push({ path, sha: object })
    else if (mode === FOLDER) judged.folders += 1
    else judged.files += 1
    judged.bytes += Number(size) || 0
    if (judged.submodules.length > MAX_SUBMODULES) throw new BuildFailure(TOO_MANY_SUBMODULES)
    const { bytes, files } = useOf(judged)
    if (isTooLarge(used.bytes + bytes, used.files + files)) throw new BuildFailure(TOO_LARGE)
    if (mode === FOLDER || mode === COMMIT) return
    // A link counts too: git reads its target as if that were its content.
    if (/(^|\/)\.gitattributes$/.test(path)) {
      attributes.update(`${mode} ${object} ${path}\0`)
      judged.attributes = ''
    }
    if (mode === LINK || !/^\.(gitmodules|lfsconfig)$/.test(path)) return
    if (Number(size) > MAX_SETTINGS_BYTES)
      throw new BuildFailure(`${path} is larger than ${MAX_SETTINGS_BYTES / 1024} KiB: make it smaller`)
    judged.hasModules ||= path === '.gitmodules'
    judged.hasLfsConfiguration ||= path === '.lfsconfig'
  }
  // Lists folders too, since any number of them may be nested without a file.
  await repository.git(['ls-tree', '-r', '-t', '-l', '-z', '--full-tree', sha], onEntry, '\0')
  if (judged.attributes !== null) judged.attributes = attributes.digest('hex')
  return judged
}

/** The disk usage of a tree. */
export function useOf({ bytes, files, folders, submodules }: JudgedTree): CheckoutUse {
  return { bytes, files: files + folders + submodules.length }
}
