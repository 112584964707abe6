import { readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { makePrivateDirectory } from '#server/files.ts'
import { clearTree } from './remove-tree.ts'

/** Folders with checkouts that an earlier run of the server left. */
const LEFT = /^checkouts\.\d+\.left$/

/**
 * Moves the unfinished checkouts of an earlier run aside: they may have any number of files, and the start must not wait
 * until they are removed.
 */
export function setCheckoutsAside(dataDirectory: string): void {
  const checkouts = join(dataDirectory, 'checkouts')
  if (readdirSync(checkouts).length === 0) return
  renameSync(checkouts, `${checkouts}.${Date.now()}.left`)
  makePrivateDirectory(checkouts)
}

/** Removes what was moved aside at this start or an earlier one. */
export async function removeLeftCheckouts(dataDirectory: string): Promise<void> {
  for (const name of readdirSync(dataDirectory).filter((name) => LEFT.test(name)))
    await clearTree(join(dataDirectory, name))
}
