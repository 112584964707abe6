import { cp, realpath, rename, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { BuildFailure } from '#plans/index.ts'
import { finishSite } from './finish.ts'
import type { FinishedSite, TakeFolder } from './reader-calls.ts'

/** Moves the published folder out of a tree. Throws BuildFailure when there is no such folder. */
export async function takeFolder({
  root,
  publishDirectory,
  folder,
  singlePage,
}: TakeFolder): Promise<FinishedSite> {
  const real = await realpath(join(root, publishDirectory)).catch(() => null)
  const isInside = real !== null && !/^\.\.(\/|$)/.test(relative(root, real))
  if (!isInside || !(await stat(real)).isDirectory())
    throw new BuildFailure(`publish_dir ${publishDirectory} is not a folder of the source: correct it`)
  // Both are in the data directory; across a mount point inside it, rename fails and the files are copied.
  const files = join(folder, 'files')
  await rename(real, files).catch(() => cp(real, files, { recursive: true, verbatimSymlinks: true }))
  return finishSite(folder, singlePage)
}
