import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isFullCommit } from '#server/git/refs.ts'
import { isOtherFormat, Repository } from './repository.ts'

/** How many recent commits are searched first, since most wanted commits were pushed a moment ago. */
const RECENT_COMMITS = 256
/** git's value for an unlimited depth (git-fetch(1), --unshallow). */
export const ALL_COMMITS = 2_147_483_647

/**
 * The commits whose ids begin with `prefix` in the history of these references of the remote. Fetches only commits, without
 * files, and nothing by id: a host may give out, by id, what was pushed to a fork. They are kept separate from the
 * repository's own objects, and removed.
 * Throws GitError.
 */
export async function findInHistory(
  { directory, remote }: Repository,
  references: string[],
  prefix: string,
  idLength: number,
): Promise<string[]> {
  const history = new Repository(join(directory, 'history'), remote)
  const found = new Set<string>()
  await history.create(idLength)
  try {
    // Only for a full id is the first match enough.
    for (const depth of isFullCommit(prefix) ? [RECENT_COMMITS, ALL_COMMITS] : [ALL_COMMITS]) {
      await history.fetch(
        references.map((reference, index) => `+${reference}:refs/deployer/${index}${tail(reference)}`),
        ['--filter=tree:0', `--depth=${depth}`],
      )
      await history.git(['rev-list', '--all'], (line) => {
        if (line.startsWith(prefix)) found.add(line)
      })
      if (found.size > 0) break
    }
  } catch (error) {
    // A full id whose length differs from that of the remote's ids does not exist.
    if (!isOtherFormat(error)) throw error
  } finally {
    await rm(history.directory, { recursive: true, force: true })
  }
  return [...found]
}

/** The matches of a pattern are fetched into a namespace. */
function tail(reference: string): string {
  return reference.endsWith('/*') ? '/*' : ''
}
