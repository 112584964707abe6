import { existsSync, renameSync, utimesSync } from 'node:fs'
import { readdir, stat, statfs } from 'node:fs/promises'
import { constants } from 'node:os'
import { join } from 'node:path'
import { randomHex } from '#server/ids.ts'
import { Slots } from '#server/work/slots.ts'
import { GitError } from './git-error.ts'
import { lastWords, RemoteFault } from './remote-fault.ts'
import { halfTreesOf, KEPT_TREE, sizeOfKeptTree } from './kept-tree.ts'
import { putInOrder, sizeOfMirror } from './mirror.ts'
import { clearTree, removeTree } from './remove-tree.ts'
import { Overfull } from './size-watch.ts'

/** What all mirrors may take together, on a small disk a tenth of it. */
const MIRRORS_BYTES = 10 * 1024 ** 3
const MIRRORS_SHARE = 0.1
/** What their trees may take beside: each is written again in seconds, without a word from its remote. */
const TREES_BYTES = 5 * 1024 ** 3
const TREES_SHARE = 0.05
/** Each file costs an inode, of which a file system may have had a number since it was made. */
const TREES_FILES = 1_000_000
/** And a block, of which the size of the file says less. */
const BLOCK_BYTES = 4_096
/** Twice as many as one deploy may have submodules, which are not to take the room of all others. */
const MAX_MIRRORS = 1_000
/** Nothing is kept for longer of a service that was removed, or is deployed that seldom. */
const KEPT_MS = 30 * 24 * 3_600_000
/** How a program that SIGKILL ended is told, as shells do. */
const KILLED = 128 + constants.signals.SIGKILL
/** The end of the name of a mirror that is being removed. */
const LEAVING = '.leaving'
/** Of its middle: what an earlier removal left has the same beginning. */
const LEAVING_BYTES = 4

/** How a mirror is used. */
export interface MirrorUse<T> {
  /** Of what was fetched of one repository with the credentials of one holder. */
  directory: string
  signal: AbortSignal
  /** Receives lines for the build's log. */
  onLine: (line: string) => void
  /** Makes the mirror when it is missing; done once more, from its beginning, when the one that was there proves damaged. */
  work: () => Promise<T>
}

/** Those who use a mirror or wait for it, by its folder. */
const turns = new Map<string, { slots: Slots; users: number }>()

/**
 * Has a work done with a mirror by one at a time. A mirror that is damaged, or with which the work outgrows the limit, is
 * made anew; none is kept of a repository that could not be fetched. Throws what the work throws.
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
    const removed = await putInOrder(directory)
    if (removed) onLine('the mirror of the repository was put in order: its last use had been cut off')
    if (removed === null) onLine(anew('is damaged'))
    else {
      try {
        const made = await work()
        utimesSync(directory, new Date(), new Date())
        return made
      } catch (error) {
        const reason = reasonToRemake(error)
        if (reason === null) throw error
        onLine(anew(reason))
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

function anew(reason: string): string {
  return `the mirror of the repository ${reason}: fetching all of it`
}

/** What is wrong with a mirror after a failure; null when the failure is not its own. */
function reasonToRemake(error: unknown): string | null {
  if (error instanceof Overfull) return 'has grown too large'
  if (!(error instanceof RemoteFault) || error.kind !== 'unknown') return null
  const { cause } = error
  // A code in words is a limit of the server's; killed it was from outside, as by a kernel that lacks memory.
  if (!(cause instanceof GitError) || typeof cause.code !== 'number' || cause.code === KILLED) return null
  return `is damaged (${lastWords(cause)})`
}

/** Removes the mirrors and trees that were used least recently, until the others are within bounds; never any in use. */
export async function trimMirrors(folder: string): Promise<void> {
  const { blocks, bsize, files } = await statfs(folder)
  let room = Math.min(MIRRORS_BYTES, blocks * bsize * MIRRORS_SHARE)
  const trees = {
    bytes: Math.min(TREES_BYTES, blocks * bsize * TREES_SHARE),
    // Some make inodes as they are needed, and say 0.
    files: files === 0 ? TREES_FILES : Math.min(TREES_FILES, files * TREES_SHARE),
  }
  let kept = 0
  for (const { path, usedAt, bytes } of await listMirrors(folder)) {
    const isWanted = usedAt > Date.now() - KEPT_MS && kept < MAX_MIRRORS && bytes <= room
    if (!isWanted && !turns.has(path)) {
      await removeAside(path, path)
      continue
    }
    room -= bytes
    kept += 1
    for (const half of await halfTreesOf(path)) if (!turns.has(path)) await removeAside(half, path)
    const tree = await sizeOfKeptTree(path)
    if (tree === null) continue
    trees.bytes -= tree.bytes + tree.files * BLOCK_BYTES
    trees.files -= tree.files
    const hasRoom = trees.bytes >= 0 && trees.files >= 0
    if (!hasRoom && !turns.has(path)) await removeAside(join(path, KEPT_TREE), path)
  }
}

/** The one that was used last first. */
async function listMirrors(folder: string): Promise<{ path: string; usedAt: number; bytes: number }[]> {
  const found = []
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    const facts = await stat(path).catch(() => null)
    // A removal that was cut off is to go on.
    const usedAt = name.endsWith(LEAVING) ? 0 : facts?.mtimeMs
    if (usedAt !== undefined) found.push({ path, usedAt, bytes: await sizeOfMirror(path) })
  }
  return found.sort((left, right) => right.usedAt - left.usedAt)
}

/** Renamed before anything else happens: a deploy that comes meanwhile finds none, not half of one. */
async function removeAside(path: string, name: string): Promise<void> {
  // A deploy may have come and removed it while others were looked at.
  if (!existsSync(path)) return
  const leaving = path.endsWith(LEAVING) ? path : `${name}.${randomHex(LEAVING_BYTES)}${LEAVING}`
  if (leaving !== path) renameSync(path, leaving)
  await clearTree(leaving)
}
