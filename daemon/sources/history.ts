import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isFullCommit } from '#server/git/refs.ts'
import { isOtherFormat, Repository } from './repository.ts'

/** Commits that are looked through before all the rest: most of what is asked for was pushed a moment ago. */
const RECENT_COMMITS = 256
/** git's own word for a history without an end (git-fetch(1), --unshallow). */
export const ALL_COMMITS = 2_147_483_647

/**
 * The commits whose ids begin with `prefix` among those that these references of the remote contain. Only commits are
 * fetched, without files, and nothing by its id: a host may hand out, by id, what was pushed to somebody's fork. They are
 * kept apart from the repository's own objects, and removed.
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
  await history.make(idLength)
  try {
    // Only a whole id is settled by the first find.
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
    // Of a whole id with another length than those of the remote there is no commit.
    if (!isOtherFormat(error)) throw error
  } finally {
    await rm(history.directory, { recursive: true, force: true })
  }
  return [...found]
}

/** A pattern is fetched into names below its own. */
function tail(reference: string): string {
  return reference.endsWith('/*') ? '/*' : ''
}
