import {
  constants,
  copyFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { PRIVATE_DIRECTORY_MODE } from '#server/files.ts'
import { BuildFailure } from '#plans/index.ts'
import { PATH_TOO_LONG } from './path-limits.ts'

/** Errors of link(2) after which a file is copied: it cannot be linked, or not again. Security modules report EACCES. */
const NO_LINK = new Set(['EACCES', 'EXDEV', 'EMLINK', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])
const SLASH = Buffer.from('/')

/** A kept tree, and where it is wanted. */
export interface LinkTree {
  from: string
  /** It is created; existing content is removed. */
  root: string
  /** The folder in it that is filled; empty for all of it. */
  folder: string
}

/**
 * Fills a folder with hard links to the files of a kept tree: they may be replaced, but never written to. Returns how many
 * there are, including links. Throws BuildFailure if the folder is not one.
 */
export async function linkTree({ from, root, folder }: LinkTree): Promise<number> {
  if (folder !== '') assertFolder(root, folder)
  const to = join(root, folder)
  rmSync(to, { recursive: true, force: true })
  mkdirSync(to, folder === '' ? { recursive: true, mode: PRIVATE_DIRECTORY_MODE } : {})
  try {
    // Names are bytes, since git accepts any.
    return fill(Buffer.from(from), Buffer.from(to))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENAMETOOLONG') throw error
    throw new BuildFailure(PATH_TOO_LONG, { cause: error })
  }
}

function fill(from: Buffer, to: Buffer): number {
  let files = 0
  for (const entry of readdirSync(from, { withFileTypes: true, encoding: 'buffer' })) {
    const source = Buffer.concat([from, SLASH, entry.name])
    const target = Buffer.concat([to, SLASH, entry.name])
    if (entry.isDirectory()) {
      mkdirSync(target)
      files += fill(source, target)
      continue
    }
    if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source, 'buffer'), target)
    else linkOrCopy(source, target)
    files += 1
  }
  return files
}

function linkOrCopy(source: Buffer, target: Buffer): void {
  try {
    linkSync(source, target)
  } catch (error) {
    if (!NO_LINK.has((error as NodeJS.ErrnoException).code ?? '')) throw error
    copyFileSync(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
  }
}

/**
 * Makes sure that the folder exists that git leaves for a submodule. On a file system that compares names differently than
 * git, there may be a link instead.
 */
function assertFolder(root: string, folder: string): void {
  let path = root
  for (const name of folder.split('/')) {
    path = join(path, name)
    if (name === '..' || !lstatSync(path, { throwIfNoEntry: false })?.isDirectory())
      throw new BuildFailure(
        `the submodule path ${folder} is not a plain folder of the repository (part of it may be a link): move the submodule to another path`,
      )
  }
}
