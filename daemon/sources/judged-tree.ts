import { createHash } from 'node:crypto'
import { BuildFailure } from '../builds/failure.ts'
import { isTooLarge, TOO_LARGE, type CheckoutUse } from './checkout-limits.ts'
import type { Repository } from './repository.ts'

/** Modes of the entries of a tree (gitdatamodel(7)): links and other repositories are no files. */
const LINK = '120000'
const COMMIT = '160000'
/** A line of `git ls-tree -l`. */
const ENTRY = /^(\d+) \S+ ([0-9a-f]+) +(\d+|-)\t(.*)$/s

/** What is known of a commit's tree before anything of it is written. */
export interface JudgedTree extends CheckoutUse {
  sha: string
  /** Names its files of attributes, by which git writes files (gitattributes(5)), with their content; null without one. */
  attributes: string | null
  /** Where it wants which commits of other repositories. */
  submodules: { path: string; sha: string }[]
  /** Whether files at its top say where those are, and where Git LFS is. */
  hasModules: boolean
  hasLfsConfiguration: boolean
}

/**
 * Looks through a commit's tree. Throws BuildFailure when it is too large together with what is `used`: a few kilobytes of
 * git's objects can name any number of files.
 */
export async function judgeTree(repository: Repository, sha: string, used: CheckoutUse): Promise<JudgedTree> {
  const judged: JudgedTree = {
    sha,
    bytes: 0,
    files: 0,
    attributes: null,
    submodules: [],
    hasModules: false,
    hasLfsConfiguration: false,
  }
  const attributes = createHash('sha256')
  const onEntry = (line: string): void => {
    const [, mode = '', object = '', size, path = ''] = ENTRY.exec(line) ?? []
    if (mode === COMMIT) judged.submodules.push({ path, sha: object })
    else judged.files += 1
    judged.bytes += Number(size) || 0
    const entries = judged.files + judged.submodules.length
    if (isTooLarge(used.bytes + judged.bytes, used.files + entries)) throw new BuildFailure(TOO_LARGE)
    if (mode === LINK || mode === COMMIT) return
    judged.hasModules ||= path === '.gitmodules'
    judged.hasLfsConfiguration ||= path === '.lfsconfig'
    if (!/(^|\/)\.gitattributes$/.test(path)) return
    attributes.update(`${object} ${path}\0`)
    judged.attributes = ''
  }
  await repository.git(['ls-tree', '-r', '-l', '-z', '--full-tree', sha], onEntry, '\0')
  if (judged.attributes !== null) judged.attributes = attributes.digest('hex')
  return judged
}
