import { readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { makePrivateDirectory } from '#server/files.ts'
import { clearTree } from './remove-tree.ts'

/** What an earlier run of the server left of its checkouts. */
const LEFT = /^checkouts\.\d+\.left$/

/**
 * Puts aside what an earlier run was in the middle of: it may have any number of files, and a start must not wait until
 * they are gone.
 */
export function setCheckoutsAside(dataDirectory: string): void {
  const checkouts = join(dataDirectory, 'checkouts')
  if (readdirSync(checkouts).length === 0) return
  renameSync(checkouts, `${checkouts}.${Date.now()}.left`)
  makePrivateDirectory(checkouts)
}

/** Removes what was put aside at this start or an earlier one. */
export async function removeLeftCheckouts(dataDirectory: string): Promise<void> {
  for (const name of readdirSync(dataDirectory).filter((name) => LEFT.test(name)))
    await clearTree(join(dataDirectory, name))
}
