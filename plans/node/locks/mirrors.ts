import type { Tree } from '../../source/tree.ts'
import { MAX_LOCK_BYTES } from './limits.ts'

/** The address from which only Lovable's editor can fetch npm packages: its lock files name it. */
const OF_NPM = /https:\/\/[a-z0-9-]{1,40}-npm\.pkg\.dev\/lovable-core-prod\/sandbox-npm-cache\//g
const OF_BUN =
  /"https:\/\/[a-z0-9-]{1,40}-npm\.pkg\.dev\/lovable-core-prod\/sandbox-npm-cache\/[^"\s]{0,500}"/g
const REGISTRY = 'https://registry.npmjs.org/'

/** Lock files that are text and contain addresses. */
const LOCKS = ['package-lock.json', 'npm-shrinkwrap.json', 'yarn.lock', 'bun.lock']

/** Whether a lock file contains such an address. */
export function namesMirror(text: string): boolean {
  return text.search(OF_NPM) !== -1
}

/**
 * Returns the lock files of a tree that name an address only the tool that wrote them can read, with npm's registry instead;
 * the checksums stay. None for any other tree.
 */
export async function withoutMirrors(
  tree: Tree,
  files: readonly string[],
  notes: string[],
): Promise<Record<string, string>> {
  const locks: Record<string, string> = {}
  for (const file of LOCKS.filter((each) => files.includes(each))) {
    const text = await tree.readText(file, MAX_LOCK_BYTES)
    // An empty address stands for the registry that Bun is configured with.
    const renewed = file === 'bun.lock' ? text?.replaceAll(OF_BUN, '""') : text?.replaceAll(OF_NPM, REGISTRY)
    if (renewed === undefined || renewed === text) continue
    locks[file] = renewed
    notes.push(
      `${file} names a mirror of npm's registry that is Lovable's alone: its packages are taken from the registry`,
    )
  }
  return locks
}
