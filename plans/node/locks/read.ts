import type { Tree } from '../../source/tree.ts'
import type { Manifests } from '../manifest.ts'
import { gapOfBun, gapOfOldBun } from './bun.ts'
import { MAX_LOCK_BYTES } from './limits.ts'
import { namesMirror } from './mirrors.ts'
import { gapOfNpm, isWithoutPeers } from './npm.ts'
import { gapOfPnpm } from './pnpm.ts'
import { gapOfYarn } from './yarn.ts'

/** Whether there is a lock file, and whether it matches the package.json files, apart from peers of npm packages. */
export type LockState = 'none' | 'whole' | 'without-peers' | 'lacking'

/** Returns what a lock file lacks, in words; null for nothing, or where that cannot be found out. */
type FindGap = (text: string, manifests: Manifests) => string | null

/** The lock files of each manager. */
const LOCKS: Record<string, [file: string, gapOf: FindGap][]> = {
  npm: [
    ['npm-shrinkwrap.json', gapOfNpm],
    ['package-lock.json', gapOfNpm],
  ],
  pnpm: [['pnpm-lock.yaml', gapOfPnpm]],
  yarn: [['yarn.lock', gapOfYarn]],
  bun: [
    ['bun.lock', gapOfBun],
    ['bun.lockb', gapOfOldBun],
  ],
}

/**
 * Reads the lock file of a manager. One that lacks something is used as far as possible, as Render and Railpack do with
 * npm's: after an edit of package.json by hand the deploy still works, and its log says what happened.
 */
export async function readLock(
  tree: Tree,
  manager: string,
  manifests: Manifests,
  notes: string[],
): Promise<LockState> {
  for (const [file, gapOf] of LOCKS[manager] ?? []) {
    if (!(await tree.hasFile(file))) continue
    const text = (await tree.readText(file, MAX_LOCK_BYTES)) ?? ''
    // A manager that finds an empty file writes a new one.
    if (manager === 'yarn' && text.trim() === '') continue
    if (file === 'bun.lockb' && namesMirror(text)) {
      notes.push(
        `${file} is not used: it names a mirror of npm's registry that is Lovable's alone, and it is not a text file. Each build takes the newest packages that package.json allows; for the same ones run bun install and commit bun.lock`,
      )
      continue
    }
    const gap = gapOf(text, manifests)
    if (gap === null && manager === 'npm' && isWithoutPeers(text, manifests)) {
      notes.push(`${file} was written without peer dependencies: installing with npm's legacy-peer-deps`)
      return 'without-peers'
    }
    if (gap === null) return 'whole'
    notes.push(
      `${file} is out of step with package.json: ${gap.slice(0, MAX_GAP_CHARACTERS)}. What it lacks is installed in the newest version that package.json allows; for the same packages in each build run ${manager} install and commit ${file}`,
    )
    return 'lacking'
  }
  return 'none'
}

/** The text repeats names of the tree. */
const MAX_GAP_CHARACTERS = 300
