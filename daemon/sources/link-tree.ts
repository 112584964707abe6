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

/** Where the file system has no second name for a file, or no further one, it gets a copy (link(2)); security modules say EACCES. */
const NO_LINK = new Set(['EACCES', 'EXDEV', 'EMLINK', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])
const SLASH = Buffer.from('/')

/** A tree that is kept, and where it is wanted. */
export interface LinkTree {
  from: string
  /** Made; what is in it is removed. */
  root: string
  /** One of its folders, which alone is filled; empty for all of it. */
  folder: string
}

/**
 * Fills a folder with the files of a kept tree, which they share: nothing may be written into them but in place of them.
 * Answers how many there are, links included. Throws BuildFailure for a folder that is none.
 */
export async function linkTree({ from, root, folder }: LinkTree): Promise<number> {
  if (folder !== '') assertFolder(root, folder)
  const to = join(root, folder)
  rmSync(to, { recursive: true, force: true })
  mkdirSync(to, folder === '' ? { recursive: true, mode: PRIVATE_DIRECTORY_MODE } : {})
  try {
    // Names are bytes: git takes any.
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

/** As git leaves one where another repository belongs. Where names are compared otherwise than by git, a link may lie in its way. */
function assertFolder(root: string, folder: string): void {
  let path = root
  for (const name of folder.split('/')) {
    path = join(path, name)
    if (name === '..' || !lstatSync(path, { throwIfNoEntry: false })?.isDirectory())
      throw new BuildFailure(`there is no folder ${folder} in the repository around it: rename it`)
  }
}
