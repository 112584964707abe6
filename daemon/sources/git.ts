import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { splitCredentials } from '#server/git/url.ts'
import { sha256 } from '#server/secrets.ts'
import { BuildFailure } from '../builds/failure.ts'
import type { Reader } from '../reader/reader.ts'
import { isTooLarge, TOO_LARGE } from './checkout-limits.ts'
import { fetchCommit, type CommitChoice, type FetchedCommit } from './fetch.ts'
import { RemoteFault, withRemote, type Remote, type RemoteAccess } from './git-remote.ts'
import { FINISH_CHECKOUT } from './jobs.ts'
import { joinPacks } from './mirror.ts'
import { fetchLfsFiles } from './lfs.ts'
import { withMirror } from './mirrors.ts'
import { Repository } from './repository.ts'
import { withinSize } from './size-watch.ts'
import { fetchSubmodules, listsSubmodules } from './submodules.ts'
import { WorkingTree } from './working-tree.ts'

export { lsRemote } from './refs.ts'
export { ensureSshKey } from './ssh-key.ts'

/** A clone that takes longer is given up; the build's own time limit holds beside it. */
const CHECKOUT_TIMEOUT_MS = 15 * 60_000
/** As much of a commit's message as is kept. */
const MAX_MESSAGE_CHARACTERS = 8 * 1024
/** And of the name of its author. */
const MAX_AUTHOR_CHARACTERS = 256

export interface CheckoutRequest extends RemoteAccess, CommitChoice {
  /** Where what is fetched is kept between checkouts. */
  mirrors: string
  /** Whose credentials these are, the same while they are renewed: others see nothing of what was fetched with them. */
  holder: string
  /** Made; what is in it is removed. */
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
 * Puts one commit's tree into a directory, submodules included and nothing of git's own. What is sent is what the mirror of
 * the repository lacks, as shallow as the remote lets. Hooks and filters never run; links are left as they are. Throws
 * BuildFailure with what to change.
 */
export async function checkout(request: CheckoutRequest): Promise<Checkout> {
  const { url } = splitCredentials(request.url)
  const timeout = AbortSignal.timeout(CHECKOUT_TIMEOUT_MS)
  const signal = AbortSignal.any([request.signal, timeout])
  const mirror = join(request.mirrors, sha256(JSON.stringify([url, request.holder])))
  try {
    const { directory, onLine, reader } = request
    const work = (): Promise<LaidOut> => layOut(request, mirror, signal)
    const laidOut = await withMirror({ directory: mirror, signal, onLine, work })
    const { head, hasSubmodules, hasAttributes } = laidOut
    if (hasSubmodules || hasAttributes) await complete(request, laidOut, signal)
    await reader.ask(FINISH_CHECKOUT, { directory, hasSubmodules })
    return head
  } catch (error) {
    if (timeout.aborted && !request.signal.aborted) {
      throw new BuildFailure(
        `cloning ${url} took longer than ${CHECKOUT_TIMEOUT_MS / 60_000} minutes: try again, or deploy a smaller repository`,
      )
    }
    if (!(error instanceof RemoteFault)) throw error
    throw new BuildFailure(error.message, { cause: error })
  }
}

/** A tree that is laid out, and what is to be asked of others for it. */
interface LaidOut {
  head: Checkout
  hasSubmodules: boolean
  /** Files of git's that may name some which Git LFS keeps. */
  hasAttributes: boolean
}

/** Fetches the chosen commit into the mirror and lays its tree out. */
function layOut(request: CheckoutRequest, mirror: string, signal: AbortSignal): Promise<LaidOut> {
  const { directory, onLine } = request
  const work = async (remote: Remote): Promise<LaidOut> => {
    const repository = new Repository(mirror, remote)
    if (!existsSync(mirror)) await repository.make()
    const { sha, branch } = await fetchCommit(repository, request, onLine)
    const { hasAttributes } = await judgeTree(repository, sha)
    await new WorkingTree(directory, remote).layOut(repository, sha)
    // The name of an author is one line. Not split: a message may be a million of them.
    const shown = await repository.git(['show', '--no-patch', '--format=%an%n%B', sha])
    const nameEnd = shown.indexOf('\n')
    await joinPacks(repository)
    const head = {
      sha,
      message: shown
        .slice(nameEnd + 1)
        .trim()
        .slice(0, MAX_MESSAGE_CHARACTERS),
      author: shown.slice(0, Math.min(nameEnd, MAX_AUTHOR_CHARACTERS)),
      branch,
    }
    return { head, hasSubmodules: await listsSubmodules(directory), hasAttributes }
  }
  return withinSize([directory, mirror], signal, (limited) => withRemote(request, limited, work))
}

/** Fetches what the tree has elsewhere: submodules, and files that Git LFS keeps. Others may use the mirror meanwhile. */
function complete(
  request: CheckoutRequest,
  { hasSubmodules, hasAttributes }: LaidOut,
  signal: AbortSignal,
): Promise<void> {
  const { directory, reach, reader, onLine } = request
  return withinSize([directory], signal, (limited) =>
    withRemote(request, limited, async (remote) => {
      const tree = new WorkingTree(directory, remote)
      if (hasAttributes) await fetchLfsFiles({ tree, reach, reader, signal: limited, onLine })
      if (hasSubmodules) onLine('fetching submodules')
      if (hasSubmodules) await fetchSubmodules(tree)
    }),
  )
}

/**
 * Refuses a large tree before anything of it is written, as a few kilobytes of git objects can name any number of files;
 * answers whether it has files of attributes (gitattributes(5)).
 */
async function judgeTree(repository: Repository, sha: string): Promise<{ hasAttributes: boolean }> {
  let files = 0
  let bytes = 0
  let hasAttributes = false
  await repository.git(['ls-tree', '-r', '-l', '--full-tree', sha], (line) => {
    files += 1
    bytes += Number(/^\d+ blob \S+ +(\d+)/.exec(line)?.[1] ?? 0)
    hasAttributes ||= /[\t/]\.gitattributes$/.test(line)
    if (isTooLarge(bytes, files)) throw new BuildFailure(TOO_LARGE)
  })
  return { hasAttributes }
}
