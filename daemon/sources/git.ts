import { mkdir } from 'node:fs/promises'
import { PRIVATE_DIRECTORY_MODE } from '#server/files.ts'
import { splitCredentials } from '#server/git/url.ts'
import { BuildFailure } from '../builds/failure.ts'
import type { Reader } from '../reader/reader.ts'
import { fetchCommit, type CommitChoice, type FetchedCommit } from './fetch.ts'
import { RemoteFault, withRemote, type RemoteAccess } from './git-remote.ts'
import { FINISH_CHECKOUT } from './jobs.ts'
import { Repository } from './repository.ts'
import { fetchSubmodules } from './submodules.ts'
import { isTooLarge, tooLarge, watchSize } from './size-watch.ts'

export { lsRemote } from './refs.ts'
export { ensureSshKey } from './ssh-key.ts'

/** A clone that takes longer is given up; the build's own time limit holds beside it. */
const CHECKOUT_TIMEOUT_MS = 15 * 60_000
/** As much of a commit's message as is kept. */
const MAX_MESSAGE_CHARACTERS = 8 * 1024
/** And of the name of its author. */
const MAX_AUTHOR_CHARACTERS = 256

export interface CheckoutRequest extends RemoteAccess, CommitChoice {
  /** Made when it is missing; must be empty. */
  directory: string
  /** Ends with the signal. */
  reader: Reader
  signal: AbortSignal
  /** Receives lines for the build's log. */
  onLine: (line: string) => void
}

/** What a checkout is of. */
export interface Checkout extends FetchedCommit {
  message: string
  author: string
}

/**
 * Puts one commit's tree into a directory, submodules included and nothing of git's own, as shallow as the remote lets.
 * Hooks, filters and LFS never run; links are left as they are. Throws BuildFailure with what to change.
 */
export async function checkout(request: CheckoutRequest): Promise<Checkout> {
  await mkdir(request.directory, { recursive: true, mode: PRIVATE_DIRECTORY_MODE })
  const ending = new AbortController()
  const timeout = AbortSignal.timeout(CHECKOUT_TIMEOUT_MS)
  const signal = AbortSignal.any([request.signal, timeout, ending.signal])
  const watching = watchSize(request.directory, signal, (fault) => ending.abort(fault))
  try {
    return await withRemote(request, (remote) =>
      layOut(new Repository(request.directory, remote, signal), request),
    )
  } catch (error) {
    if (timeout.aborted && !request.signal.aborted) {
      throw new BuildFailure(
        `cloning ${splitCredentials(request.url).url} took longer than ${CHECKOUT_TIMEOUT_MS / 60_000} minutes: try again, or deploy a smaller repository`,
      )
    }
    if (!(error instanceof RemoteFault)) throw error
    throw new BuildFailure(error.message, { cause: error })
  } finally {
    ending.abort()
    await watching
  }
}

/** Lays out the tree of the chosen commit in the repository's folder. */
async function layOut(repository: Repository, request: CheckoutRequest): Promise<Checkout> {
  const { sha, branch } = await fetchCommit(repository, request, request.onLine)
  await refuseLargeTree(repository, sha)
  await repository.git(['checkout', '--quiet', '--force', '--detach', sha])
  // The name of an author is one line.
  const [author = '', ...message] = (
    await repository.git(['show', '--no-patch', '--format=%an%n%B', sha])
  ).split('\n')
  const hasSubmodules = await fetchSubmodules(repository, request.onLine)
  const { directory, reader, onLine } = request
  const { usesLfs } = await reader.ask(FINISH_CHECKOUT, { directory, hasSubmodules })
  if (usesLfs) onLine('files kept by Git LFS are not fetched: the build sees their pointers')
  return {
    sha,
    message: message.join('\n').trim().slice(0, MAX_MESSAGE_CHARACTERS),
    author: author.slice(0, MAX_AUTHOR_CHARACTERS),
    branch,
  }
}

/** Refuses before anything is written: a few kilobytes of git objects can name any number of files. */
async function refuseLargeTree(repository: Repository, sha: string): Promise<void> {
  let files = 0
  let bytes = 0
  await repository.git(['ls-tree', '-r', '-l', '--full-tree', sha], (line) => {
    files += 1
    bytes += Number(/^\d+ blob \S+ +(\d+)/.exec(line)?.[1] ?? 0)
    if (isTooLarge(bytes, files)) throw tooLarge()
  })
}
