import { existsSync, renameSync, statSync, utimesSync } from 'node:fs'
import { readdir, stat, statfs } from 'node:fs/promises'
import { constants } from 'node:os'
import { join } from 'node:path'
import { randomHex } from '#server/ids.ts'
import { Slots } from '#server/work/slots.ts'
import { GitError } from './git-error.ts'
import { lastMessage, RemoteFault } from './remote-fault.ts'
import { unfinishedTreesOf, KEPT_TREE, sizeOfKeptTree } from './kept-tree.ts'
import { cleanUp, sizeOfMirror } from './mirror.ts'
import { clearTree, removeTree } from './remove-tree.ts'
import { Overfull } from './size-watch.ts'

/** The maximum size of all mirrors together; on a small disk, a tenth of it. */
const MIRRORS_BYTES = 10 * 1024 ** 3
const MIRRORS_SHARE = 0.1
/** The maximum size of their trees, in addition: each can be written again in seconds, without its remote. */
const TREES_BYTES = 5 * 1024 ** 3
const TREES_SHARE = 0.05
/** Each file costs an inode, whose number may be fixed when a file system is created. */
const TREES_FILES = 1_000_000
/** Each file also costs a block, however small it is. */
const BLOCK_BYTES = 4_096
/** Twice as many as one deploy may have submodules, so that those cannot displace all others. */
const MAX_MIRRORS = 1_000
/** How long a mirror is kept for a service that was removed, or is deployed less often. */
const KEPT_MS = 30 * 24 * 3_600_000
/** The exit code for a program that SIGKILL ended, as in shells. */
const KILLED = 128 + constants.signals.SIGKILL
/** The suffix of a mirror that is being removed. */
const REMOVED_SUFFIX = '.leaving'
/** The random part in its name, since an earlier removal may have left one with the same beginning. */
const REMOVED_NAME_BYTES = 4

/** How a mirror is used. */
export interface MirrorUse<T> {
  /** The folder for one repository, fetched with the credentials of one holder. */
  directory: string
  signal: AbortSignal
  /** Receives lines for the build's log. */
  onLine: (line: string) => void
  /** Creates the mirror if it is missing. Run again, from its beginning, if an existing mirror turns out to be damaged. */
  work: () => Promise<T>
}

/** The users of each mirror, including those that wait, by its folder. */
const turns = new Map<string, { slots: Slots; users: number }>()

/**
 * Runs work with a mirror, one user at a time. A mirror that is damaged, or with which the work exceeds the size limit, is
 * created again; if the repository cannot be fetched, none is kept. Throws what the work throws.
 */
export async function withMirror<T>(use: MirrorUse<T>): Promise<T> {
  const { directory, signal, onLine } = use
  const turn = turns.get(directory) ?? { slots: new Slots(1), users: 0 }
  turns.set(directory, turn)
  turn.users += 1
  if (turn.slots.isFull) onLine('waiting for another deploy that fetches the same repository')
  try {
    return await turn.slots.run(() => workWith(use), signal)
  } finally {
    turn.users -= 1
    if (turn.users === 0) turns.delete(directory)
  }
}

async function workWith<T>({ directory, onLine, work }: MirrorUse<T>): Promise<T> {
  if (existsSync(directory)) {
    const removed = await cleanUp(directory)
    if (removed) onLine('the mirror of the repository was cleaned up: its last use had been interrupted')
    if (removed === null) onLine(fetchingAll('is damaged'))
    else {
      try {
        const made = await work()
        utimesSync(directory, new Date(), new Date())
        return made
      } catch (error) {
        const reason = reasonToRemake(error)
        if (reason === null) throw error
        onLine(fetchingAll(reason))
      }
    }
    await removeTree(directory)
  }
  try {
    return await work()
  } catch (error) {
    await removeTree(directory)
    throw error
  }
}

function fetchingAll(reason: string): string {
  return `the mirror of the repository ${reason}: fetching all of it`
}

/** What is wrong with a mirror after a failure; null when the failure is not its own. */
function reasonToRemake(error: unknown): string | null {
  if (error instanceof Overfull) return 'has grown too large'
  if (!(error instanceof RemoteFault) || error.kind !== 'unknown') return null
  const { cause } = error
  // A code in words is a limit of this server; SIGKILL came from outside, for example because the host ran out of memory.
  if (!(cause instanceof GitError) || typeof cause.code !== 'number' || cause.code === KILLED) return null
  return `is damaged (${lastMessage(cause)})`
}

/** A mirror, or a tree in one, that is beyond the limits, unfinished or out of use. */
export interface SurplusMirror {
  path: string
  /** The mirror that it is or is in, and when that was last used, in milliseconds. */
  mirror: string
  usedAt: number
}

/** Removes the least recently used mirrors and trees until the others are within the limits; never any in use. */
export async function trimMirrors(folder: string): Promise<void> {
  for (const surplus of await surplusMirrors(folder)) await removeSurplusMirror(surplus)
}

/** What `trimMirrors` removes. */
export async function surplusMirrors(folder: string): Promise<SurplusMirror[]> {
  const { blocks, bsize, files } = await statfs(folder)
  let room = Math.min(MIRRORS_BYTES, blocks * bsize * MIRRORS_SHARE)
  const trees = {
    bytes: Math.min(TREES_BYTES, blocks * bsize * TREES_SHARE),
    // Some file systems create inodes as needed, and report 0.
    files: files === 0 ? TREES_FILES : Math.min(TREES_FILES, files * TREES_SHARE),
  }
  let kept = 0
  const found: SurplusMirror[] = []
  for (const { path: mirror, usedAt, bytes } of await listMirrors(folder)) {
    const isWanted = usedAt > Date.now() - KEPT_MS && kept < MAX_MIRRORS && bytes <= room
    if (!isWanted && !turns.has(mirror)) {
      found.push({ path: mirror, mirror, usedAt })
      continue
    }
    room -= bytes
    kept += 1
    for (const path of await unfinishedTreesOf(mirror))
      if (existsSync(path)) found.push({ path, mirror, usedAt })
    const tree = await sizeOfKeptTree(mirror)
    if (tree === null) continue
    trees.bytes -= tree.bytes + tree.files * BLOCK_BYTES
    trees.files -= tree.files
    const hasRoom = trees.bytes >= 0 && trees.files >= 0
    if (!hasRoom) found.push({ path: join(mirror, KEPT_TREE), mirror, usedAt })
  }
  return found.filter(({ mirror }) => !turns.has(mirror))
}

/** Removes one of them; false if a deploy uses its mirror, or has used it since. */
export async function removeSurplusMirror({ path, mirror, usedAt }: SurplusMirror): Promise<boolean> {
  if (turns.has(mirror)) return false
  const lastUsed = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
  // A tree is only a copy: losing one that was written meanwhile costs a deploy seconds.
  if (path === mirror && !path.endsWith(REMOVED_SUFFIX) && lastUsed > usedAt) return false
  await removeAside(path, mirror)
  return true
}

/** Lists mirrors, the most recently used first. */
async function listMirrors(folder: string): Promise<{ path: string; usedAt: number; bytes: number }[]> {
  const found = []
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    const facts = await stat(path).catch(() => null)
    // An interrupted removal must continue.
    const usedAt = name.endsWith(REMOVED_SUFFIX) ? 0 : facts?.mtimeMs
    if (usedAt !== undefined) found.push({ path, usedAt, bytes: await sizeOfMirror(path) })
  }
  return found.sort((left, right) => right.usedAt - left.usedAt)
}

/** Removes a path after renaming it, so that a deploy in the meantime finds no mirror, not half of one. */
async function removeAside(path: string, name: string): Promise<void> {
  // A deploy may have removed it while others were checked.
  if (!existsSync(path)) return
  const renamed = path.endsWith(REMOVED_SUFFIX)
    ? path
    : `${name}.${randomHex(REMOVED_NAME_BYTES)}${REMOVED_SUFFIX}`
  if (renamed !== path) renameSync(path, renamed)
  await clearTree(renamed)
}
