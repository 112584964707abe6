import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** Takes what is git's own out of a tree. */
export async function finishCheckout({
  directory,
  hasSubmodules,
}: {
  directory: string
  hasSubmodules: boolean
}): Promise<null> {
  if (hasSubmodules) removeGitFiles(directory)
  else rmSync(join(directory, '.git'), { recursive: true, force: true })
  return null
}

/** Submodules have a `.git` file each; git lets no repository hold one of its own. */
function removeGitFiles(directory: string): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.name === '.git') rmSync(path, { recursive: true, force: true })
    else if (entry.isDirectory()) removeGitFiles(path)
  }
}
