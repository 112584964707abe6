import type { Tree } from '../../tree.ts'
import { MAX_LOCK_BYTES } from './limits.ts'

/** Where Lovable's editor fetches packages of npm from, and nobody else can: its lock files name it. */
const OF_NPM = /https:\/\/[a-z0-9-]{1,40}-npm\.pkg\.dev\/lovable-core-prod\/sandbox-npm-cache\//g
const OF_BUN =
  /"https:\/\/[a-z0-9-]{1,40}-npm\.pkg\.dev\/lovable-core-prod\/sandbox-npm-cache\/[^"\s]{0,500}"/g
const REGISTRY = 'https://registry.npmjs.org/'

/** Those that are text and hold addresses. */
const LOCKS = ['package-lock.json', 'npm-shrinkwrap.json', 'yarn.lock', 'bun.lock']

/** Whether the bytes of a lock file hold such an address. */
export function namesMirror(text: string): boolean {
  return text.search(OF_NPM) !== -1
}

/**
 * The lock files of a tree whose packages lie at an address that only the tool which wrote them can read, with that of npm's
 * registry in its place; their checksums stay. None for any other tree.
 */
export async function withoutMirrors(
  tree: Tree,
  files: readonly string[],
  notes: string[],
): Promise<Record<string, string>> {
  const locks: Record<string, string> = {}
  for (const file of LOCKS.filter((each) => files.includes(each))) {
    const text = await tree.readText(file, MAX_LOCK_BYTES)
    // An empty address is the registry that Bun is set to.
    const renewed = file === 'bun.lock' ? text?.replaceAll(OF_BUN, '""') : text?.replaceAll(OF_NPM, REGISTRY)
    if (renewed === undefined || renewed === text) continue
    locks[file] = renewed
    notes.push(
      `${file} names a mirror of npm's registry that is Lovable's alone: its packages are taken from the registry`,
    )
  }
  return locks
}
