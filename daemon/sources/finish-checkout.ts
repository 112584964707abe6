import { lstatSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** A larger file of attributes is not looked into for a note in the log. */
const MAX_ATTRIBUTES_BYTES = 1024 * 1024

/** Takes what is git's own out of a tree; answers whether some of its files are kept by Git LFS. */
export async function finishCheckout({
  directory,
  hasSubmodules,
}: {
  directory: string
  hasSubmodules: boolean
}): Promise<{ usesLfs: boolean }> {
  if (hasSubmodules) removeGitFiles(directory)
  else rmSync(join(directory, '.git'), { recursive: true, force: true })
  return { usesLfs: usesLfs(join(directory, '.gitattributes')) }
}

/** Submodules have a `.git` file each; git lets no repository hold one of its own. */
function removeGitFiles(directory: string): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.name === '.git') rmSync(path, { recursive: true, force: true })
    else if (entry.isDirectory()) removeGitFiles(path)
  }
}

function usesLfs(path: string): boolean {
  const facts = lstatSync(path, { throwIfNoEntry: false })
  if (!facts?.isFile() || facts.size > MAX_ATTRIBUTES_BYTES) return false
  return /\bfilter=lfs\b/.test(readFileSync(path, 'utf8'))
}
